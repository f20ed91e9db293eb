import type { DescMethod, MessageShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type DeployFixture, openDeployFixture } from "../../test/cli/deploy-fixture.ts";
import { Lease_State } from "../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query } from "../wire/gen/svc/market/v1beta1/query_pb.js";
import { marketErrors } from "../wire/index.ts";
import { serviceLeases } from "./manage/pick.ts";

/** Deployments through a node that lies in its lists, and has to prove single records. */

const PLANS = { p1: { price: "10", delay: 1 }, p2: { price: "12", delay: 1 } };

type Lists = { readonly [K in "bids" | "leases"]?: (answer: MessageShape<(typeof Query.method)[K]["output"]>) => void };

/** A fixture whose node changes its lists. */
function lying(lists: Lists): DeployFixture {
  const fixture = openDeployFixture(PLANS);
  fixture.lie = (method: DescMethod, answer) => {
    const { bids = () => {}, leases = () => {} } = lists;
    if (method === Query.method.bids) bids(answer as never);
    if (method === Query.method.leases) leases(answer as never);
  };
  return fixture;
}

test("a node that tells the truth leads to a running deployment", async () => {
  const fixture = lying({});
  expect((await fixture.deploy()).leases).toHaveLength(1);
});

test("a bid at another price than the proven one gets no lease", async () => {
  const fixture = lying({
    bids: ({ bids }) => {
      for (const { bid } of bids) if (bid?.price !== undefined) bid.price.amount = "9000000000000000000";
    },
  });
  await expect(fixture.deploy()).rejects.toMatchObject({
    code: 18,
    message: expect.stringMatching(/^bid .* costs 1[02]utoken per block and not 9utoken: the chain proves otherwise$/),
  });
  expect(fixture.manifests.size).toBe(0);
});

test("a bid that is not on the chain gets no lease", async () => {
  const fixture = lying({
    bids: ({ bids }) => {
      for (const { bid } of bids) if (bid?.bidId !== undefined) bid.bidId.oseq = 7;
    },
  });
  await expect(fixture.deploy()).rejects.toMatchObject({ codespace: "market", code: marketErrors.bidNotOpen.code });
  expect(fixture.notes.join("")).toContain("choosing again");
  expect(fixture.manifests.size).toBe(0);
});

test.each<[string, Lists, RegExp]>([
  [
    "that was never made",
    {
      leases: ({ leases }) => {
        for (const { lease } of leases) if (lease?.leaseId !== undefined) lease.leaseId.oseq = 7;
      },
    },
    /^lease .*\/7\/.* is not there: the chain proves otherwise$/,
  ],
  [
    "at another price",
    {
      leases: ({ leases }) => {
        for (const { lease } of leases) if (lease?.price !== undefined) lease.price.amount = "1000000000000000000";
      },
    },
    /^lease .* costs 10utoken per block and not 1utoken: the chain proves otherwise$/,
  ],
])("no manifest is sent for a lease %s", async (_, lists, message) => {
  const fixture = lying(lists);
  await expect(fixture.deploy()).rejects.toMatchObject({ code: 18, message: expect.stringMatching(message) });
  expect(fixture.manifests.size).toBe(0);
});

test("no manifest is sent for a lease that has ended, or whose deployment has", async () => {
  const fixture = lying({
    leases: ({ leases }) => {
      for (const { lease } of leases) if (lease !== undefined) lease.state = Lease_State.active;
    },
  });
  const parts = fixture.parts();
  const { market } = parts;
  const dseq = BigInt((await fixture.deploy()).dseq);
  const leases = await market.leases(dseq);
  await expect(market.confirmLeases(leases)).resolves.toBeUndefined();
  expect(await serviceLeases(parts, dseq, "web")).toHaveLength(1);
  fixture.market.closeDeployment(fixture.key("alice"), { owner: fixture.tenant, dseq });
  await expect(market.confirmLeases(leases)).rejects.toThrow("is closed: the chain proves otherwise");
  // No command or line of its input goes to the provider either.
  await expect(serviceLeases(parts, dseq, "web")).rejects.toThrow("is closed");
});
