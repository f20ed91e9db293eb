import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { ProviderRecord, Screening } from "../../client/index.ts";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { estimate } from "./estimate.ts";

const ANSWERS: Readonly<Record<string, Screening>> = {
  dear: { bid: true, price: { denom: "utoken", amount: 9n } },
  full: { bid: false, reason: "insufficient capacity" },
  cheap: { bid: true, price: { denom: "utoken", amount: 2n } },
};

test("every provider is asked about every group, bids first and the cheapest before the others", async () => {
  const providers = ["gone", "dear", "full", "cheap"].map(
    (address): ProviderRecord => ({ address, hostUri: `https://${address}.example`, attributes: [] }),
  );
  const heard: string[] = [];
  const answers = await estimate(
    ["east", "west"].map((name) => create(GroupSpecSchema, { name })),
    {
      providers,
      gateway: ({ address }) => ({
        async screen() {
          const answer = ANSWERS[address];
          if (answer === undefined) throw new Error("connection refused");
          return answer;
        },
      }),
      onAnswer: ({ group, provider }) => heard.push(`${group} ${provider.address}`),
    },
  );
  expect(answers.map(({ group, provider }) => `${group} ${provider.address}`)).toEqual(
    ["east", "west"].flatMap((group) => ["cheap", "dear", "full", "gone"].map((name) => `${group} ${name}`)),
  );
  expect(answers[3]?.screening).toEqual({ bid: false, reason: "its gateway does not say: connection refused" });
  expect(heard).toHaveLength(8);
});

test("no more providers are asked at once than wanted", async () => {
  const providers = Array.from({ length: 9 }, (_, at) => ({ address: `${at}`, hostUri: "https://x", attributes: [] }));
  let open = 0;
  let most = 0;
  const screen = async (): Promise<Screening> => {
    most = Math.max(most, ++open);
    await new Promise((done) => setImmediate(done));
    open -= 1;
    return { bid: false, reason: "full" };
  };
  const options = { providers, gateway: () => ({ screen }), atOnce: 4 };
  expect(await estimate([create(GroupSpecSchema, { name: "east" })], options)).toHaveLength(9);
  expect(most).toBe(4);
});
