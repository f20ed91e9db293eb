import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import { NodeDouble } from "../../../../test/support/node-double.ts";
import { parseDec } from "../../../util/index.ts";
import { Query } from "../../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { encodeAddress } from "../../../wire/index.ts";

const bytes = new Uint8Array(20).fill(7);
const DELEGATOR = encodeAddress(bytes);
const VALIDATOR = encodeAddress(bytes, "valoper");
const reward = { denom: "utoken", amount: parseDec("1.25").toString() };
const node = new NodeDouble();

beforeAll(async () => {
  await node.start();
  node.answerQuery(Query.method.delegationRewards, () => ({ rewards: [reward] }));
  node.answerQuery(Query.method.delegationTotalRewards, () => ({
    rewards: [{ validatorAddress: VALIDATOR, reward: [reward] }],
    total: [reward],
  }));
});
afterAll(() => node.stop());

const rewards = (...words: readonly string[]) =>
  runCli(["query", "distribution", "rewards", DELEGATOR, ...words, "--node", node.address]);

describe("query distribution rewards", () => {
  test("of one validator are a list of coins with decimals", async () => {
    expect(await rewards(VALIDATOR, "-o", "json")).toEqual({
      code: 0,
      out: '[{"denom":"utoken","amount":"1.250000000000000000"}]\n',
      err: "",
    });
    expect((await rewards(VALIDATOR)).out).toBe('- amount: "1.250000000000000000"\n  denom: utoken\n');
  });

  test("of all are an object with those of each validator and their total", async () => {
    const coin = { denom: "utoken", amount: "1.250000000000000000" };
    const { out } = await rewards("-o", "json");
    expect(out).toBe(
      `${JSON.stringify({ rewards: [{ validator_address: VALIDATOR, reward: [coin] }], total: [coin] })}\n`,
    );
  });
});
