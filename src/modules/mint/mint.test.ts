import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { createValidatorMessage } from "../../../test/support/chain/index.ts";
import { MOST_SUPPLY } from "../../runtime/index.ts";
import { type TestChain, testChain } from "../../testing/index.ts";
import { formatDec, parseDec } from "../../util/index.ts";
import { Query as Bank } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as Distribution } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query } from "../../wire/gen/sdk/mint/v1beta1/query_pb.js";
import { MsgUpdateParamsSchema } from "../../wire/gen/sdk/mint/v1beta1/tx_pb.js";
import { defaultParams } from "./genesis.ts";
import { nextInflation } from "./keeper.ts";

const ON = {
  mint_denom: "utoken",
  inflation_rate_change: "0.13",
  inflation_max: "0.2",
  inflation_min: "0.07",
  goal_bonded: "0.67",
  blocks_per_year: "6311520",
};

function newChain(params: object = {}, inflation = "0.13"): TestChain {
  const mint = { minter: { inflation, annual_provisions: "0" }, params: { ...ON, ...params } };
  return testChain({ genesis: { mint } });
}

const supply = (chain: TestChain) => BigInt(chain.query(Bank.method.supplyOf, { denom: "utoken" }).amount?.amount ?? 0);

describe("new coins", () => {
  test("come with every block: a block's part of a year's", () => {
    const chain = newChain();
    // Nothing is bonded: 0.13 / 6311520 more than 0.13, of 4 * 10^12, by 6311520.
    const { inflation } = chain.query(Query.method.inflation, {});
    expect(Buffer.from(inflation).toString()).toBe(`${parseDec("0.130000020597257079")}`);
    const { annualProvisions } = chain.query(Query.method.annualProvisions, {});
    expect(formatDec(BigInt(Buffer.from(annualProvisions).toString()))).toBe("520000082389.028316000000000000");
    expect(supply(chain)).toBe(4n * 10n ** 12n + 82_389n);
    chain.nextBlock();
    const minted = chain.blockEvents.find(({ type }) => type === "mint")?.attributes;
    expect(Object.fromEntries((minted ?? []).map(({ key, value }) => [key, value]))).toMatchObject({
      bonded_ratio: "0.000000000000000000",
      inflation: "0.130000041194514158",
      amount: "82389",
    });
    // Without votes, new coins go to the community, except the last block's, which wait.
    expect(chain.query(Distribution.method.communityPool, {}).pool).toMatchObject([
      { amount: `${2n * 82_389n * 10n ** 18n}` },
    ]);
  });

  test("are fewer when more than the goal is bonded, and stay within their bounds", () => {
    const params = defaultParams();
    const step = (inflation: string, ratio: string) =>
      formatDec(nextInflation(parseDec(inflation), params, parseDec(ratio)));
    expect(step("0.13", "0.67")).toBe("0.130000000000000000");
    expect(step("0.13", "1")).toBe("0.129999989855082334");
    expect(step("0.2", "0")).toBe("0.200000000000000000");
    expect(step("0.07", "1")).toBe("0.070000000000000000");
  });

  test("end where there are as many coins as voting power can express", () => {
    const most = { inflation_min: "1", inflation_max: "1", blocks_per_year: "1" };
    const chain = newChain(most, "1");
    const before = supply(chain);
    chain.nextBlock();
    expect(supply(chain)).toBe(2n * before);
    chain.nextBlock(40);
    expect(supply(chain)).toBe(MOST_SUPPLY);
  });

  test("go to validators", () => {
    const chain = newChain();
    const alice = chain.key("alice");
    chain.mustSend(createValidatorMessage(alice, { amount: 10n ** 12n }), { from: alice });
    chain.nextBlock(4);
    expect(chain.blockEvents.some(({ type }) => type === "rewards")).toBe(true);
  });
});

describe("parameters", () => {
  test.each<[string, object, string]>([
    ["bounds the wrong way round", { inflation_max: "0.05" }, "inflation_max: must be at least inflation_min"],
    ["no goal", { goal_bonded: "0" }, "goal_bonded: must be more than 0"],
    ["no blocks", { blocks_per_year: "0" }, "blocks_per_year: must be 1 to"],
    ["a rate above 1", { inflation_rate_change: "1.5" }, "inflation_rate_change: must be 0 to 1"],
  ])("are not taken with %s", (_name, params, text) => {
    expect(() => newChain(params)).toThrow(text);
  });

  test("are changed by nobody but governance", () => {
    const chain = newChain();
    const alice = chain.key("alice");
    const message = create(MsgUpdateParamsSchema, { authority: alice.address, params: defaultParams() });
    expect(chain.send(message, { from: alice })).toMatchObject({ codespace: "sdk", code: 4 });
    const bad = create(MsgUpdateParamsSchema, {
      authority: alice.address,
      params: { ...defaultParams(), goalBonded: "0" },
    });
    expect(chain.send(bad, { from: alice })).toMatchObject({ codespace: "mint", code: 2 });
  });
});
