import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { type SentTx, type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { BasicAllowanceSchema, PeriodicAllowanceSchema } from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { Query } from "../../wire/gen/sdk/feegrant/v1beta1/query_pb.js";
import {
  MsgGrantAllowanceSchema,
  MsgPruneAllowancesSchema,
  MsgRevokeAllowanceSchema,
} from "../../wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { MsgCreatePermanentLockedAccountSchema } from "../../wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { type Any, fromNanos, packAny, unpackAs } from "../../wire/index.ts";
import { MAX_PRUNED } from "./keeper.ts";

/** A grantee wants more than was granted; strangers want to make grants costly for everybody. */

const SECOND = 1_000_000_000n;
const [alice, bob, carol] = ["alice", "bob", "carol"].map(testKey) as [TestKey, TestKey, TestKey];
const coins = (each: Readonly<Record<string, number>>) =>
  Object.entries(each).map(([denom, amount]) => ({ denom, amount: `${amount}` }));
const at = (nanos: bigint): Timestamp => create(TimestampSchema, fromNanos(nanos));
const grant = (allowance: Any, granter = alice.address, grantee = bob.address) =>
  create(MsgGrantAllowanceSchema, { granter, grantee, allowance });
const periodic = (init: MessageInitShape<typeof PeriodicAllowanceSchema>) => packAny(PeriodicAllowanceSchema, init);
const transfer = (from = bob) =>
  create(MsgSendSchema, {
    ...{ fromAddress: from.address, toAddress: carol.address },
    amount: coins({ utoken: 1 }),
  });

function twoDenoms(): TestChain {
  const balances = [alice, bob, carol].map(({ address }) => ({ address, coins: coins({ ugold: 1e9, utoken: 1e9 }) }));
  return testChain({ genesis: { bank: { balances } } });
}

function pay(chain: TestChain, fee: Readonly<Record<string, number>>): SentTx {
  const list = Object.entries(fee).map(([denom, amount]) => ({ denom, amount: BigInt(amount) }));
  return chain.send(transfer(), { from: bob, fee: list, granter: alice.address });
}

const left = (chain: TestChain) =>
  unpackAs(
    PeriodicAllowanceSchema,
    chain.query(Query.method.allowance, { granter: alice.address, grantee: bob.address }).allowance?.allowance,
  );

describe("a period of several denominations", () => {
  const begun = (basic: Readonly<Record<string, number>>, period: Readonly<Record<string, number>>) => {
    const chain = twoDenoms();
    const limit = { periodSpendLimit: coins(period), periodCanSpend: coins(period) };
    const whole = { basic: { spendLimit: coins(basic) }, period: { seconds: 6n }, periodReset: at(0n), ...limit };
    chain.mustSend(grant(periodic(whole)), { from: alice });
    return chain;
  };

  test("gives no more of one because little is left of the whole of another", () => {
    const chain = begun({ ugold: 12, utoken: 1000 }, { ugold: 10, utoken: 10 });
    expect(pay(chain, { ugold: 10 }).code).toBe(0);
    chain.nextBlock(2);
    // Two of gold are left of the whole, less than a period may spend; ten tokens are still the limit of the period.
    expect(pay(chain, { utoken: 11 })).toMatchObject({ codespace: "feegrant", code: 2 });
    expect(pay(chain, { ugold: 3 })).toMatchObject({ codespace: "feegrant", code: 2 });
    expect(pay(chain, { ugold: 2, utoken: 10 }).code).toBe(0);
    expect(left(chain)).toMatchObject({ basic: { spendLimit: coins({ utoken: 990 }) }, periodCanSpend: [] });
    chain.nextBlock(2);
    expect(pay(chain, { ugold: 1 })).toMatchObject({ codespace: "feegrant", code: 2 });
    expect(pay(chain, { utoken: 11 })).toMatchObject({ codespace: "feegrant", code: 2 });
    expect(pay(chain, { utoken: 10 }).code).toBe(0);
  });

  test("spends none that the whole limit does not name", () => {
    const chain = begun({ ugold: 5, utoken: 5 }, { utoken: 3 });
    expect(pay(chain, { ugold: 1 })).toMatchObject({ codespace: "feegrant", code: 2 });
    expect(pay(chain, { utoken: 3 }).code).toBe(0);
  });
});

describe("money that is not there", () => {
  test("of a granter without coins, or with locked ones, pays nothing", () => {
    const chain = testChain();
    const poor = testKey("poor");
    const amount = coins({ utoken: 1000 });
    const pair = { fromAddress: alice.address, toAddress: poor.address };
    chain.mustSend(create(MsgCreatePermanentLockedAccountSchema, { ...pair, amount }), { from: alice });
    chain.mustSend(grant(packAny(BasicAllowanceSchema, {}), poor.address), { from: poor });
    const settings = { from: bob, fee: [{ denom: "utoken", amount: 1n }], granter: poor.address };
    const before = chain.balance(bob.address);
    expect(chain.send(transfer(), settings)).toMatchObject({ codespace: "sdk", code: 5 });
    // Nor in a block whose proposer did not check.
    expect(chain.block([chain.sign(transfer(), settings)])[0]).toMatchObject({ codespace: "sdk", code: 5 });
    expect([chain.balance(bob.address), chain.balance(poor.address)]).toEqual([before, 1000n]);
  });

  test("two transactions of one block get no more out of an allowance than one", () => {
    const chain = testChain();
    chain.mustSend(grant(packAny(BasicAllowanceSchema, { spendLimit: coins({ utoken: 10 }) })), { from: alice });
    const settings = { from: bob, fee: [{ denom: "utoken", amount: 7n }], granter: alice.address };
    const first = chain.sign(transfer(), settings);
    const [one, two] = chain.block([first, chain.fork().sign(transfer(), settings)]);
    expect(one?.code).toBe(0);
    expect(two?.code).not.toBe(0);
    const before = chain.balance(alice.address);
    expect(chain.send(transfer(), settings)).toMatchObject({ codespace: "feegrant", code: 2 });
    expect(chain.balance(alice.address)).toBe(before);
  });
});

describe("the end of an allowance", () => {
  const ending = (end: bigint) => packAny(BasicAllowanceSchema, { expiration: at(end) });

  test("in the block that grants it is its last block", () => {
    const chain = testChain();
    const next = chain.time + 6n * SECOND;
    chain.mustSend(grant(ending(next)), { from: alice });
    expect(chain.time).toBe(next);
    expect(() => chain.query(Query.method.allowance, { granter: alice.address, grantee: bob.address })).toThrow(
      "not found",
    );
    expect(chain.send(grant(ending(chain.time)), { from: alice })).toMatchObject({ codespace: "sdk", code: 18 });
  });

  test("of one that was revoked and granted anew is that of the new one", () => {
    const chain = testChain();
    chain.mustSend(grant(ending(chain.time + 30n * SECOND)), { from: alice });
    chain.mustSend(create(MsgRevokeAllowanceSchema, { granter: alice.address, grantee: bob.address }), { from: alice });
    chain.mustSend(grant(packAny(BasicAllowanceSchema, {})), { from: alice });
    chain.nextBlock(10);
    expect(pay(chain, { utoken: 1 }).code).toBe(0);
  });

  test("comes for as many as a block removes, and none that waits pays anything", () => {
    const chain = testChain({ checkedAt: () => false });
    const end = chain.time + 90n * SECOND;
    const strangers = Array.from({ length: MAX_PRUNED + 50 }, (_, i) => testKey(`stranger-${i}`).address);
    const all = strangers.map((grantee) => grant(ending(end), alice.address, grantee));
    for (let i = 0; i < all.length; i += 50) chain.mustSend(all.slice(i, i + 50), { from: alice, gas: 25_000_000n });
    chain.mustSend(grant(ending(end)), { from: alice });
    const count = () =>
      chain.query(Query.method.allowancesByGranter, {
        granter: alice.address,
        pagination: { countTotal: true, limit: 1n },
      }).pagination?.total ?? 0n;
    while (chain.time < end - 6n * SECOND) chain.nextBlock();
    expect(count()).toBe(BigInt(MAX_PRUNED + 51));
    chain.nextBlock();
    const waiting = count();
    expect(waiting).toBe(51n);
    // The sender of a message pays for the records that it removes.
    const { gasUsed } = chain.mustSend(create(MsgPruneAllowancesSchema, { pruner: carol.address }), {
      from: carol,
      gas: 25_000_000n,
    });
    expect(gasUsed).toBeGreaterThan(51n * 2_000n);
    expect(count()).toBe(0n);
    expect(pay(chain, { utoken: 1 })).toMatchObject({ codespace: "sdk", code: 38 });
  });
});

test("what others grant to somebody costs that account nothing", () => {
  const chain = testChain({ checkedAt: () => false });
  const gas = () =>
    chain.mustSend(transfer(), { from: bob, fee: [{ denom: "utoken", amount: 1n }], granter: alice.address }).gasUsed;
  chain.mustSend(grant(packAny(BasicAllowanceSchema, {})), { from: alice });
  gas();
  const before = gas();
  for (let i = 0; i < 60; i++) {
    const from = testKey(`granter-${i}`);
    chain.mustSend(
      create(MsgSendSchema, { fromAddress: carol.address, toAddress: from.address, amount: coins({ utoken: 9 }) }),
      { from: carol },
    );
    chain.mustSend(grant(packAny(BasicAllowanceSchema, {}), from.address), { from });
  }
  // A balance of fewer digits makes it a little cheaper.
  expect(gas()).toBeLessThan(before + 100n);
  const page = chain.query(Query.method.allowances, { grantee: bob.address, pagination: { limit: 1n } });
  expect(page.allowances).toHaveLength(1);
});
