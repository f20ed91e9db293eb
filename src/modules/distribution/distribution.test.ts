import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { consensusKey, createValidatorMessage, operatorAddress } from "../../../test/support/chain/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { type SentTx, type TestChain, type TestKey, testChain } from "../../testing/index.ts";
import { formatDec, NATIVE_DENOM, parseDec } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import {
  MsgCommunityPoolSpendSchema,
  MsgDepositValidatorRewardsPoolSchema,
  MsgFundCommunityPoolSchema,
  MsgSetWithdrawAddressSchema,
  MsgUpdateParamsSchema,
  MsgWithdrawDelegatorRewardResponseSchema,
  MsgWithdrawDelegatorRewardSchema,
  MsgWithdrawValidatorCommissionSchema,
} from "../../wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { MsgDelegateSchema, MsgUndelegateSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress, encodeMessage, methodPath } from "../../wire/index.ts";

const M = 1_000_000n;
const coin = (amount: bigint) => ({ denom: NATIVE_DENOM, amount: `${amount}` });

function newChain(params: object = {}): TestChain {
  const defaults = { community_tax: "0.02", withdraw_addr_enabled: true };
  return testChain({ genesis: { distribution: { params: { ...defaults, ...params } } } });
}

/** Alice's validator has ten million tokens of her own and five of carol's, and votes with the next block. */
function oneValidator(params: object = {}): { chain: TestChain; alice: TestKey; carol: TestKey; dave: TestKey } {
  const chain = newChain(params);
  const [alice, carol, dave] = ["alice", "carol", "dave"].map((name) => chain.key(name)) as [TestKey, TestKey, TestKey];
  chain.mustSend(createValidatorMessage(alice, { amount: 10n * M }), { from: alice });
  chain.mustSend(delegate(carol, alice, 5n * M), { from: carol });
  chain.nextBlock(2);
  return { chain, alice, carol, dave };
}

const delegate = (from: TestKey, to: TestKey, amount: bigint) =>
  create(MsgDelegateSchema, {
    delegatorAddress: from.address,
    validatorAddress: operatorAddress(to),
    amount: coin(amount),
  });
const withdraw = (from: TestKey, to: TestKey) =>
  create(MsgWithdrawDelegatorRewardSchema, { delegatorAddress: from.address, validatorAddress: operatorAddress(to) });
const withdrawCommission = (key: TestKey) =>
  create(MsgWithdrawValidatorCommissionSchema, { validatorAddress: operatorAddress(key) });

/** Pays this much in fees; the next block distributes it. */
function payFees(chain: TestChain, amount: bigint): void {
  const dave = chain.key("dave");
  const nothing = create(MsgFundCommunityPoolSchema, { depositor: dave.address, amount: [coin(1n)] });
  chain.mustSend(nothing, { from: dave, fee: [{ denom: NATIVE_DENOM, amount }] });
  chain.nextBlock();
}

const texts = (coins: readonly { amount: string }[]) => coins.map(({ amount }) => formatDec(BigInt(amount)));
const rewards = (chain: TestChain, who: TestKey, of: TestKey) =>
  texts(
    chain.query(Query.method.delegationRewards, {
      delegatorAddress: who.address,
      validatorAddress: operatorAddress(of),
    }).rewards,
  );
const commission = (chain: TestChain, of: TestKey) =>
  texts(
    chain.query(Query.method.validatorCommission, { validatorAddress: operatorAddress(of) }).commission?.commission ??
      [],
  );
const pool = (chain: TestChain) => texts(chain.query(Query.method.communityPool, {}).pool);

function event(events: SentTx["events"], type: string): Record<string, string> {
  const found = events.find((each) => each.type === type);
  return Object.fromEntries((found?.attributes ?? []).map(({ key, value }) => [key, value]));
}

describe("fees", () => {
  test("are shared by power: the tax first, then commission, then by stake", () => {
    const { chain, alice, carol } = oneValidator();
    payFees(chain, 1_000n);
    // 1000 less 2% is 980; 10% of it is commission, 882 go to 15 million tokens.
    expect(event(chain.blockEvents, "commission")).toMatchObject({
      amount: "98.000000000000000000utoken",
      validator: operatorAddress(alice),
    });
    expect(event(chain.blockEvents, "rewards")).toMatchObject({ amount: "980.000000000000000000utoken" });
    expect(commission(chain, alice)).toEqual(["98.000000000000000000"]);
    expect(rewards(chain, alice, alice)).toEqual(["588.000000000000000000"]);
    expect(rewards(chain, carol, alice)).toEqual(["294.000000000000000000"]);
    expect(pool(chain)).toEqual(["21.000000000000000000"]);
    const outstanding = chain.query(Query.method.validatorOutstandingRewards, {
      validatorAddress: operatorAddress(alice),
    });
    expect(texts(outstanding.rewards?.rewards ?? [])).toEqual(["980.000000000000000000"]);
  });

  test("that cannot be divided leave their last digit to the validator, and then to the community", () => {
    const { chain, alice, carol } = oneValidator({ community_tax: "0" });
    payFees(chain, 7n);
    // 6.3 on 15 million tokens: 0.00000042 a token.
    expect(rewards(chain, carol, alice)).toEqual(["2.100000000000000000"]);
    chain.mustSend(withdraw(carol, alice), { from: carol });
    expect(pool(chain)).toEqual(["1.100000000000000000"]);
  });

  test("of blocks without voters are the community's", () => {
    const chain = newChain();
    payFees(chain, 1_000n);
    expect(pool(chain)).toEqual(["1001.000000000000000000"]);
  });
});

describe("rewards", () => {
  test("are withdrawn with whole coins, and begin anew", () => {
    const { chain, alice, carol } = oneValidator();
    payFees(chain, 1_000n);
    const before = chain.balance(carol.address);
    const sent = chain.mustSend(withdraw(carol, alice), { from: carol });
    expect(chain.balance(carol.address)).toBe(before + 294n);
    expect(event(sent.events, "withdraw_rewards")).toMatchObject({
      amount: "294utoken",
      validator: operatorAddress(alice),
      delegator: carol.address,
    });
    expect(sent.response(MsgWithdrawDelegatorRewardResponseSchema).amount).toMatchObject([coin(294n)]);
    expect(sent.gasUsed).toBeLessThan(150_000n);
    expect(rewards(chain, carol, alice)).toEqual([]);
    const nothing = chain.mustSend(withdraw(carol, alice), { from: carol });
    expect(event(nothing.events, "withdraw_rewards")).toMatchObject({ amount: "0utoken" });
  });

  test("are paid when a delegation changes, and count the new stake from there", () => {
    const { chain, alice, carol } = oneValidator();
    payFees(chain, 1_000n);
    const before = chain.balance(carol.address);
    const sent = chain.mustSend(delegate(carol, alice, 5n * M), { from: carol });
    expect(event(sent.events, "withdraw_rewards")).toMatchObject({ amount: "294utoken" });
    expect(chain.balance(carol.address)).toBe(before + 294n - 5n * M);
    payFees(chain, 1_000n);
    // Half of 882: ten of twenty million.
    expect(rewards(chain, carol, alice)).toEqual(["441.000000000000000000"]);
    const { rewards: rows, total } = chain.query(Query.method.delegationTotalRewards, {
      delegatorAddress: carol.address,
    });
    expect(rows.map(({ validatorAddress }) => validatorAddress)).toEqual([operatorAddress(alice)]);
    expect(texts(total)).toEqual(["441.000000000000000000"]);
  });

  test("go where their owner wants them", () => {
    const { chain, alice, carol, dave } = oneValidator();
    payFees(chain, 1_000n);
    const to = (withdrawAddress: string) =>
      create(MsgSetWithdrawAddressSchema, { delegatorAddress: carol.address, withdrawAddress });
    const sent = chain.mustSend(to(dave.address), { from: carol });
    expect(event(sent.events, "set_withdraw_address")).toMatchObject({ withdraw_address: dave.address });
    const before = chain.balance(dave.address);
    chain.mustSend(withdraw(carol, alice), { from: carol });
    expect(chain.balance(dave.address)).toBe(before + 294n);
    const told = chain.query(Query.method.delegatorWithdrawAddress, { delegatorAddress: carol.address });
    expect(told.withdrawAddress).toBe(dave.address);
    const module = encodeAddress(moduleAddress("distribution"));
    expect(chain.send(to(module), { from: carol })).toMatchObject({ codespace: "sdk", code: 4 });
    const { chain: fixed, carol: other } = oneValidator({ withdraw_addr_enabled: false });
    expect(fixed.send(to(other.address), { from: other })).toMatchObject({ codespace: "distribution", code: 8 });
  });

  test("are refused to those who delegate nothing, and of validators that are not there", () => {
    const { chain, alice, dave } = oneValidator();
    expect(chain.send(withdraw(dave, alice), { from: dave })).toMatchObject({ codespace: "distribution", code: 5 });
    expect(chain.send(withdraw(dave, dave), { from: dave })).toMatchObject({ codespace: "distribution", code: 6 });
    expect(() => rewards(chain, dave, alice)).toThrow("delegation does not exist");
    expect(() => rewards(chain, dave, dave)).toThrow("validator does not exist");
    for (const of of [alice, dave]) {
      const { delegationRewards: rpc } = Query.method;
      const asked = { delegatorAddress: dave.address, validatorAddress: operatorAddress(of) };
      const data = encodeMessage(rpc.input, create(rpc.input, asked));
      const answer = chain.app.query({ path: methodPath(rpc), data, height: 0n, prove: false });
      expect(answer).toMatchObject({ code: 22, log: expect.stringContaining("code = NotFound") });
    }
  });
});

describe("commission", () => {
  test("is paid in whole coins; the rest waits", () => {
    const { chain, alice } = oneValidator();
    expect(chain.send(withdrawCommission(alice), { from: alice })).toMatchObject({
      codespace: "distribution",
      code: 7,
    });
    payFees(chain, 1_005n);
    expect(commission(chain, alice)).toEqual(["98.490000000000000000"]);
    const before = chain.balance(alice.address);
    const sent = chain.mustSend([withdraw(alice, alice), withdrawCommission(alice)], { from: alice });
    expect(event(sent.events, "withdraw_commission")).toMatchObject({ amount: "98utoken" });
    expect(chain.balance(alice.address)).toBe(before + 98n + 590n);
    expect(commission(chain, alice)).toEqual(["0.490000000000000000"]);
    expect(sent.gasUsed).toBeLessThan(200_000n);
  });

  test("of a validator that leaves goes to its operator, its last digits to the community", () => {
    const chain = newChain();
    const alice = chain.key("alice");
    chain.mustSend(createValidatorMessage(alice, { amount: M - 1n }), { from: alice });
    const deposit = create(MsgDepositValidatorRewardsPoolSchema, {
      depositor: alice.address,
      validatorAddress: operatorAddress(alice),
      amount: [coin(105n)],
    });
    chain.mustSend(deposit, { from: alice });
    expect(commission(chain, alice)).toEqual(["10.500000000000000000"]);
    const before = chain.balance(alice.address);
    const all = create(MsgUndelegateSchema, {
      delegatorAddress: alice.address,
      validatorAddress: operatorAddress(alice),
      amount: coin(M - 1n),
    });
    chain.mustSend(all, { from: alice });
    expect(chain.balance(alice.address)).toBe(before + 94n + 10n);
    expect(pool(chain)).toEqual(["1.000000000000000000"]);
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
  });
});

describe("the community pool", () => {
  test("grows by gifts, and is spent by nobody but governance", () => {
    const { chain, dave } = oneValidator();
    const give = create(MsgFundCommunityPoolSchema, { depositor: dave.address, amount: [coin(70n)] });
    chain.mustSend(give, { from: dave });
    expect(pool(chain)).toEqual(["70.000000000000000000"]);
    const spend = create(MsgCommunityPoolSpendSchema, {
      authority: dave.address,
      recipient: dave.address,
      amount: [coin(1n)],
    });
    expect(chain.send(spend, { from: dave })).toMatchObject({ codespace: "sdk", code: 4 });
    const none = create(MsgFundCommunityPoolSchema, { depositor: dave.address, amount: [] });
    expect(chain.send(none, { from: dave })).toMatchObject({ codespace: "sdk", code: 10 });
  });
});

describe("the state", () => {
  test("comes back as it was", () => {
    const { chain, alice, carol, dave } = oneValidator();
    payFees(chain, 1_003n);
    chain.mustSend(delegate(dave, alice, 12_345n), { from: dave });
    payFees(chain, 77n);
    const to = { delegatorAddress: carol.address, withdrawAddress: dave.address };
    chain.mustSend(create(MsgSetWithdrawAddressSchema, to), { from: carol });
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
  });

  test("has parameters that only governance changes, and only to good ones", () => {
    const { chain, dave } = oneValidator();
    const update = (communityTax: string) =>
      create(MsgUpdateParamsSchema, {
        authority: dave.address,
        params: { communityTax, baseProposerReward: "0", bonusProposerReward: "0", withdrawAddrEnabled: true },
      });
    expect(chain.send(update(`${parseDec("0.1")}`), { from: dave })).toMatchObject({ codespace: "sdk", code: 4 });
    expect(chain.send(update(`${parseDec("1.1")}`), { from: dave })).toMatchObject({
      codespace: "distribution",
      code: 14,
    });
    expect(() => newChain({ community_tax: "1.1" })).toThrow("params.community_tax: must be 0 to 1");
    expect(() => newChain({ base_proposer_reward: "0.1" })).toThrow("proposers get nothing extra");
    expect(chain.voters.commit().votes).toHaveLength(1);
    expect(consensusKey("alice")).toHaveLength(32);
  });
});
