import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { consensusKey, createValidatorMessage, operatorAddress } from "../../../test/support/chain/index.ts";
import { consensusAddress } from "../../crypto/index.ts";
import { type TestChain, type TestKey, testChain } from "../../testing/index.ts";
import { NATIVE_DENOM, toHex, toUtf8 } from "../../util/index.ts";
import { Query as Rewards } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query } from "../../wire/gen/sdk/slashing/v1beta1/query_pb.js";
import { MsgUnjailSchema, MsgUpdateParamsSchema } from "../../wire/gen/sdk/slashing/v1beta1/tx_pb.js";
import { Query as Staking } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { BondStatus } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgDelegateSchema,
  MsgUndelegateSchema,
} from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress } from "../../wire/index.ts";

const M = 1_000_000n;
const coin = (amount: bigint) => ({ denom: NATIVE_DENOM, amount: `${amount}` });

/** A window of ten blocks, half of which must be signed, and a minute in jail. */
function newChain(params: object = {}): TestChain {
  const defaults = {
    signed_blocks_window: "10",
    min_signed_per_window: "0.5",
    downtime_jail_duration: "60s",
    slash_fraction_double_sign: "0.05",
    slash_fraction_downtime: "0.01",
  };
  return testChain({ genesis: { slashing: { params: { ...defaults, ...params } } } });
}

function validators(params: object = {}): { chain: TestChain; alice: TestKey; bob: TestKey; carol: TestKey } {
  const chain = newChain(params);
  for (const [name, amount] of [
    ["alice", 10n * M],
    ["bob", 20n * M],
  ] as const)
    chain.mustSend(createValidatorMessage(chain.key(name), { amount }), { from: chain.key(name) });
  return { chain, alice: chain.key("alice"), bob: chain.key("bob"), carol: chain.key("carol") };
}

const valcons = (name: string) => encodeAddress(consensusAddress(consensusKey(name)), "valcons");
const validator = (chain: TestChain, key: TestKey) =>
  chain.query(Staking.method.validator, { validatorAddr: operatorAddress(key) }).validator;
const info = (chain: TestChain, name: string) =>
  chain.query(Query.method.signingInfo, { consAddress: valcons(name) }).valSigningInfo;
const unjail = (key: TestKey) => create(MsgUnjailSchema, { validatorAddr: operatorAddress(key) });
const events = (chain: TestChain, type: string) =>
  chain.blockEvents
    .filter((each) => each.type === type)
    .map(({ attributes }) => Object.fromEntries(attributes.map(({ key, value }) => [key, value])));

const misbehavior = (chain: TestChain, name: string, height: bigint, power: bigint) => ({
  kind: "duplicateVote" as const,
  validator: { address: consensusAddress(consensusKey(name)), power },
  height,
  time: chain.time,
  totalVotingPower: 30n,
});

describe("a validator that is absent", () => {
  test("is slashed and jailed when it misses more than half of a window, and comes back when its time is over", () => {
    const { chain, alice } = validators();
    chain.voters.absent.add(toHex(consensusKey("alice")));
    let blocks = 0;
    for (; validator(chain, alice)?.jailed === false; blocks += 1) chain.nextBlock();
    // Counted from its bonding on: no validator is punished before a whole window is over.
    expect(blocks).toBe(10);
    const [slashed] = events(chain, "slash");
    expect(slashed).toMatchObject({
      address: valcons("alice"),
      power: "10",
      reason: "missing_signature",
      jailed: valcons("alice"),
      burned_coins: "100000",
    });
    expect(events(chain, "burn")).toMatchObject([{ amount: "100000utoken" }]);
    expect(validator(chain, alice)).toMatchObject({ tokens: "9900000", status: BondStatus.UNBONDING });
    expect(info(chain, "alice")).toMatchObject({ missedBlocksCounter: 0n, indexOffset: 0n, tombstoned: false });
    expect(chain.send(unjail(alice), { from: alice })).toMatchObject({ codespace: "slashing", code: 4 });
    chain.nextBlock(9);
    chain.voters.absent.clear();
    chain.mustSend(unjail(alice), { from: alice });
    expect(validator(chain, alice)).toMatchObject({ jailed: false, status: BondStatus.BONDED });
    chain.nextBlock(20);
    expect(validator(chain, alice)?.jailed).toBe(false);
    expect(chain.send(unjail(alice), { from: alice })).toMatchObject({ codespace: "slashing", code: 5 });
  });

  test("is counted within its window alone", () => {
    const { chain, alice } = validators();
    const id = toHex(consensusKey("alice"));
    for (let i = 0; i < 30; i++) {
      if (i % 2 === 0) chain.voters.absent.add(id);
      else chain.voters.absent.delete(id);
      chain.nextBlock();
    }
    expect(validator(chain, alice)?.jailed).toBe(false);
    expect(info(chain, "alice")?.missedBlocksCounter).toBe(5n);
    expect(chain.query(Query.method.signingInfos, {}).info).toHaveLength(2);
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
  });

  // Found by the simulation of the whole chain, seed 20268.
  test("leaves nothing behind when it has signed a whole window again: the state is the one of its export", () => {
    const { chain } = validators();
    chain.nextBlock(3);
    chain.voters.absent.add(toHex(consensusKey("alice")));
    chain.nextBlock();
    chain.voters.absent.clear();
    chain.nextBlock(2);
    expect(info(chain, "alice")?.missedBlocksCounter).toBe(1n);
    chain.nextBlock(10);
    expect(info(chain, "alice")?.missedBlocksCounter).toBe(0n);
    expect(() => chain.exportTwice()).not.toThrow();
  });

  test("takes its delegators along: their stake and what they earn from then on is smaller", () => {
    const { chain, alice, carol } = validators({ slash_fraction_downtime: "0.1" });
    const delegated = { delegatorAddress: carol.address, validatorAddress: operatorAddress(alice) };
    chain.mustSend(create(MsgDelegateSchema, { ...delegated, amount: coin(5n * M) }), { from: carol });
    chain.voters.absent.add(toHex(consensusKey("alice")));
    chain.nextBlock(12);
    const held = { delegatorAddr: carol.address, validatorAddr: operatorAddress(alice) };
    const { delegationResponse } = chain.query(Staking.method.delegation, held);
    expect(delegationResponse?.balance?.amount).toBe("4500000");
    const { slashes } = chain.query(Rewards.method.validatorSlashes, {
      validatorAddress: operatorAddress(alice),
      startingHeight: 0n,
      endingHeight: chain.height,
    });
    expect(slashes).toMatchObject([{ fraction: `${10n ** 17n}` }]);
    // A share is worth 0.9 tokens now: the same money buys more shares.
    chain.mustSend(create(MsgDelegateSchema, { ...delegated, amount: coin(900_000n) }), { from: carol });
    const after = chain.query(Staking.method.delegation, held).delegationResponse;
    expect(after).toMatchObject({ delegation: { shares: `${6n * M * 10n ** 18n}` }, balance: { amount: "5400000" } });
  });
});

describe("a validator that signs two blocks of one height", () => {
  test("is slashed, jailed for ever and never let in again, once", () => {
    const { chain, bob } = validators();
    const proof = misbehavior(chain, "bob", chain.height, 20n);
    chain.nextBlock(3);
    chain.block([], [proof]);
    expect(events(chain, "slash")).toMatchObject([
      { address: valcons("bob"), power: "20", reason: "double_sign", burned_coins: "1000000" },
      { jailed: valcons("bob") },
    ]);
    expect(validator(chain, bob)).toMatchObject({ jailed: true, tokens: "19000000" });
    expect(info(chain, "bob")).toMatchObject({ tombstoned: true, jailedUntil: { seconds: 253_402_300_799n } });
    chain.block([], [proof]);
    expect(validator(chain, bob)?.tokens).toBe("19000000");
    expect(chain.send(unjail(bob), { from: bob })).toMatchObject({ codespace: "slashing", code: 4 });
  });

  test("costs those too who left it since: by unbonding, or to another validator", () => {
    const { chain, alice, bob, carol } = validators();
    const at = { delegatorAddress: carol.address };
    const from = { from: carol };
    chain.mustSend(
      create(MsgDelegateSchema, { ...at, validatorAddress: operatorAddress(bob), amount: coin(10n * M) }),
      from,
    );
    const proof = misbehavior(chain, "bob", chain.height + 1n, 30n);
    chain.nextBlock(2);
    const leave = { ...at, validatorAddress: operatorAddress(bob), amount: coin(4n * M) };
    chain.mustSend(create(MsgUndelegateSchema, leave), from);
    const moved = { ...at, validatorSrcAddress: operatorAddress(bob), validatorDstAddress: operatorAddress(alice) };
    chain.mustSend(create(MsgBeginRedelegateSchema, { ...moved, amount: coin(2n * M) }), from);
    chain.block([], [proof]);
    // 5% of 30 million: 200,000 from the unbonding, 100,000 from the redelegation, and the rest from the validator's
    // own tokens.
    const { unbond } = chain.query(Staking.method.unbondingDelegation, {
      delegatorAddr: carol.address,
      validatorAddr: operatorAddress(bob),
    });
    expect(unbond?.entries).toMatchObject([{ initialBalance: "4000000", balance: "3800000" }]);
    expect(validator(chain, alice)?.tokens).toBe(`${11_900_000}`);
    expect(validator(chain, bob)?.tokens).toBe(`${24n * M - 1_200_000n}`);
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
  });

  test("is not known, or unbonded, or did it too long ago: nothing happens", () => {
    const { chain, bob } = validators();
    chain.block([], [misbehavior(chain, "stranger", 2n, 5n)]);
    expect(events(chain, "slash")).toEqual([]);
    expect(validator(chain, bob)?.jailed).toBe(false);
  });
});

describe("MsgUnjail", () => {
  test("is refused to strangers and to operators with too little at stake", () => {
    const { chain, alice, carol } = validators();
    expect(chain.send(unjail(carol), { from: carol })).toMatchObject({ codespace: "slashing", code: 3 });
    const all = create(MsgUndelegateSchema, {
      delegatorAddress: alice.address,
      validatorAddress: operatorAddress(alice),
      amount: coin(10n * M),
    });
    const some = create(MsgDelegateSchema, {
      delegatorAddress: carol.address,
      validatorAddress: operatorAddress(alice),
      amount: coin(M),
    });
    chain.mustSend(some, { from: carol });
    chain.mustSend(all, { from: alice });
    expect(chain.send(unjail(alice), { from: alice })).toMatchObject({ codespace: "slashing", code: 6 });
  });
});

describe("parameters", () => {
  test.each<[string, object, string]>([
    ["no window", { signed_blocks_window: "0" }, "signed_blocks_window: must be 1 to"],
    ["no jail", { downtime_jail_duration: "0s" }, "downtime_jail_duration: must be positive"],
    ["a fraction above 1", { slash_fraction_downtime: "1.1" }, "slash_fraction_downtime: must be 0 to 1"],
  ])("are not taken with %s", (_name, params, text) => {
    expect(() => newChain(params)).toThrow(text);
  });

  test("are changed by nobody but governance", () => {
    const { chain, alice } = validators();
    const params = chain.query(Query.method.params, {}).params;
    const message = create(MsgUpdateParamsSchema, { authority: alice.address, ...(params && { params }) });
    expect(chain.send(message, { from: alice })).toMatchObject({ codespace: "sdk", code: 4 });
    const bad = { ...params, minSignedPerWindow: toUtf8(`${2n * 10n ** 18n}`) };
    const wrong = create(MsgUpdateParamsSchema, { authority: alice.address, params: bad as never });
    expect(chain.send(wrong, { from: alice })).toMatchObject({ codespace: "slashing", code: 9 });
  });
});
