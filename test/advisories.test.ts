import { create } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test, vi } from "vitest";
import { NO_VOTERS } from "../src/abci/index.ts";
import { standardModules } from "../src/app/index.ts";
import { moduleAddress } from "../src/crypto/index.ts";
import { type TestChain, testChain } from "../src/testing/index.ts";
import { formatDec, NATIVE_DENOM, parseDec, toHex } from "../src/util/index.ts";
import { GenericAuthorizationSchema } from "../src/wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { MsgExecSchema, MsgGrantSchema } from "../src/wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { MsgMultiSendSchema, MsgSendSchema } from "../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { Query as Rewards } from "../src/wire/gen/sdk/distribution/v1beta1/query_pb.js";
import {
  MsgFundCommunityPoolSchema,
  MsgSetWithdrawAddressSchema,
  MsgWithdrawDelegatorRewardSchema,
} from "../src/wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { MsgDelegateSchema, MsgUndelegateSchema } from "../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import {
  MsgCreatePermanentLockedAccountSchema,
  MsgCreateVestingAccountSchema,
} from "../src/wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { encodeAddress, fromNanos, packAny } from "../src/wire/index.ts";
import { KvNetwork, kvTx } from "./support/block-engine/network.ts";
import { createValidatorMessage, operatorAddress } from "./support/chain/index.ts";

/** Faults of other chains of the ecosystem, tried on ours; docs/specification/advisories.md has the whole list. */

const M = 1_000_000n;
const coin = (amount: bigint | string, denom = NATIVE_DENOM) => ({ denom, amount: `${amount}` });
const send = (from: string, to: string, amount: bigint | string) =>
  create(MsgSendSchema, { fromAddress: from, toAddress: to, amount: [coin(amount)] });
const hashOf = (chain: TestChain) => toHex(chain.app.info().lastBlockAppHash);

afterEach(() => {
  vi.useRealTimers();
});

describe("module accounts", () => {
  const names = standardModules().modules.flatMap(({ accounts = [] }) => accounts.map(({ name }) => name));
  const chain = testChain();
  const alice = chain.key("alice");

  test("are those that are known", () => {
    expect(names).toEqual(
      expect.arrayContaining(["fee_collector", "bonded_tokens_pool", "gov", "mint", "distribution", "escrow"]),
    );
  });

  test.each(names)("%s gets no coins, and nobody makes an account or receives rewards there", (name) => {
    const to = encodeAddress(moduleAddress(name));
    const from = alice.address;
    const amount = [coin(5n)];
    const end = { endTime: chain.time / 1_000_000_000n + 1000n, amount };
    const messages = [
      send(from, to, 5n),
      create(MsgMultiSendSchema, {
        inputs: [{ address: from, coins: amount }],
        outputs: [{ address: to, coins: amount }],
      }),
      create(MsgCreateVestingAccountSchema, { fromAddress: from, toAddress: to, ...end }),
      create(MsgCreatePermanentLockedAccountSchema, { fromAddress: from, toAddress: to, amount }),
      create(MsgSetWithdrawAddressSchema, { delegatorAddress: from, withdrawAddress: to }),
    ];
    const before = chain.balance(to);
    for (const message of messages)
      expect([message.$typeName, chain.send(message, { from: alice }).code]).toEqual([message.$typeName, 4]);
    // Fees go to their collector all the same.
    if (name !== "fee_collector" && name !== "distribution") expect(chain.balance(to)).toBe(before);
  });
});

describe("amounts", () => {
  const chain = testChain();
  const alice = chain.key("alice");
  const bob = chain.key("bob").address;
  chain.mustSend(createValidatorMessage(alice, { amount: 10n * M }), { from: alice });
  const at = { delegatorAddress: alice.address, validatorAddress: operatorAddress(alice) };
  const bad = ["0", "-1", "-0", "+1", "1.0", "1e3", "", " 1", "0x1", `${2n ** 256n}`, `-${2n ** 255n}`];

  test.each(bad)("are refused everywhere: %j", (amount) => {
    const one = coin(amount);
    const addresses = { fromAddress: alice.address, toAddress: chain.key("carol").address };
    const messages = [
      send(alice.address, bob, amount),
      create(MsgMultiSendSchema, {
        inputs: [{ address: alice.address, coins: [one] }],
        outputs: [{ address: bob, coins: [one] }],
      }),
      create(MsgDelegateSchema, { ...at, amount: one }),
      create(MsgUndelegateSchema, { ...at, amount: one }),
      create(MsgFundCommunityPoolSchema, { depositor: alice.address, amount: [one] }),
      create(MsgCreateVestingAccountSchema, { ...addresses, amount: [one], endTime: 10n ** 10n }),
    ];
    for (const message of messages)
      expect([message.$typeName, chain.send(message, { from: alice }).code]).not.toEqual([message.$typeName, 0]);
  });

  test("of 256 bits are numbers, and nothing more is", () => {
    const most = 2n ** 256n - 1n;
    const rich = testChain({ coins: { [NATIVE_DENOM]: 10n ** 12n, ubig: (most - 3n) / 4n } });
    const from = rich.key("alice");
    const whole = create(MsgSendSchema, {
      fromAddress: from.address,
      toAddress: bob,
      amount: [coin((most - 3n) / 4n, "ubig")],
    });
    rich.mustSend(whole, { from });
    expect(rich.balance(bob, "ubig")).toBe(((most - 3n) / 4n) * 2n);
    const beyond = create(MsgSendSchema, { fromAddress: from.address, toAddress: bob, amount: [coin(most, "ubig")] });
    expect(rich.send(beyond, { from })).toMatchObject({ codespace: "sdk", code: 5 });
  });

  test("with 18 decimals are exact, and with 19 none", () => {
    const text = "0.000000000000000001";
    expect(formatDec(parseDec(text))).toBe(text);
    expect(() => parseDec("0.0000000000000000001")).toThrow();
  });
});

test("events of messages that were undone are not emitted", () => {
  const chain = testChain();
  const from = chain.key("alice");
  const to = chain.key("bob").address;
  const before = chain.balance(to);
  const sent = chain.send([send(from.address, to, 5n), send(from.address, to, 10n ** 18n)], { from });
  expect(sent.code).toBe(5);
  expect(chain.balance(to)).toBe(before);
  const told = sent.events.flatMap(({ attributes }) => attributes.map(({ value }) => value));
  expect(told.filter((value) => value === to || value === `5${NATIVE_DENOM}`)).toEqual([]);
});

test("blocks come to the same state whatever the clock and the zone of a machine say", () => {
  const run = (now: string, zone: string): string => {
    vi.useFakeTimers({ now: new Date(now), toFake: ["Date"] });
    vi.stubEnv("TZ", zone);
    const chain = testChain();
    const [granter, grantee] = [chain.key("alice"), chain.key("bob")];
    const authorization = packAny(
      GenericAuthorizationSchema,
      create(GenericAuthorizationSchema, { msg: "/sdk.bank.v1beta1.MsgSend" }),
    );
    // It ends three blocks on.
    const grant = { authorization, expiration: fromNanos(chain.time + 18_000_000_000n) };
    chain.mustSend(create(MsgGrantSchema, { granter: granter.address, grantee: grantee.address, grant }), {
      from: granter,
    });
    const inner = packAny(MsgSendSchema, send(granter.address, grantee.address, 1n));
    const exec = create(MsgExecSchema, { grantee: grantee.address, msgs: [inner] });
    const codes = Array.from({ length: 4 }, () => chain.send(exec, { from: grantee }).code);
    vi.unstubAllEnvs();
    vi.useRealTimers();
    return `${codes.map((code) => code === 0)} ${hashOf(chain)}`;
  };
  const first = run("2025-01-01T00:00:00Z", "UTC");
  expect(run("2025-01-01T01:00:00Z", "Asia/Kathmandu")).toBe(first);
  expect(run("1999-12-31T23:00:00Z", "America/St_Johns")).toBe(first);
  expect(first).toMatch(/^true,.*false /);
});

test("a proposal that a node makes is one that it takes", () => {
  const seed = 20_263;
  console.log(`proposals: seed ${seed}`);
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state % below;
  };
  const chain = testChain({ maxBlockGas: 1_000_000n });
  const place = () => ({
    ...NO_VOTERS,
    height: chain.height + 1n,
    time: chain.time + 1n,
    proposer: new Uint8Array(20),
  });
  let taken = 0;
  for (let round = 0; round < 40; round++) {
    const txs = Array.from({ length: 1 + random(12) }, () => {
      if (random(5) === 0) return Uint8Array.from({ length: random(60) }, () => random(256));
      const from = chain.key(["alice", "bob", "carol"][random(3)] ?? "alice");
      return chain.sign(send(from.address, chain.key("dave").address, BigInt(random(9))), {
        from,
        gas: BigInt(random(700_000)),
      });
    });
    const maxBytes = random(4_000);
    const proposed = chain.app.prepareProposal({ ...place(), txs, maxBytes });
    expect(chain.app.processProposal({ ...place(), txs: proposed, hash: new Uint8Array(32) })).toBe(true);
    expect(proposed.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(maxBytes);
    taken += proposed.length;
  }
  expect(taken).toBeGreaterThan(20);
});

test("fees in two denominations are shared out as one is", () => {
  const chain = testChain({ coins: { [NATIVE_DENOM]: 10n ** 12n, uother: 10n ** 12n } });
  const alice = chain.key("alice");
  chain.mustSend(createValidatorMessage(alice, { amount: 10n * M }), { from: alice });
  chain.nextBlock(2);
  const fee = [
    { denom: "uother", amount: 7_000n },
    { denom: NATIVE_DENOM, amount: 5_000n },
  ];
  chain.mustSend(send(alice.address, chain.key("bob").address, 1n), { from: alice, fee });
  chain.nextBlock(2);
  const { rewards } = chain.query(Rewards.method.validatorOutstandingRewards, {
    validatorAddress: operatorAddress(alice),
  });
  expect(rewards?.rewards.map(({ denom }) => denom)).toEqual(["uother", NATIVE_DENOM]);
  const withdraw = { delegatorAddress: alice.address, validatorAddress: operatorAddress(alice) };
  const before = chain.balance(alice.address, "uother");
  chain.mustSend(create(MsgWithdrawDelegatorRewardSchema, withdraw), { from: alice });
  expect(chain.balance(alice.address, "uother")).toBeGreaterThan(before);
});

test("rewards of 2^120 a block overflow no history of them", () => {
  const chain = testChain({ coins: { [NATIVE_DENOM]: 2n ** 200n } });
  const alice = chain.key("alice");
  chain.mustSend(createValidatorMessage(alice, { amount: M }), { from: alice });
  const at = { delegatorAddress: alice.address, validatorAddress: operatorAddress(alice) };
  const fee = [{ denom: NATIVE_DENOM, amount: 2n ** 120n }];
  for (let i = 0; i < 20; i++) {
    chain.mustSend(send(alice.address, chain.key("bob").address, 1n), { from: alice, fee });
    chain.mustSend(create(MsgDelegateSchema, { ...at, amount: coin(1n) }), { from: alice });
  }
  chain.mustSend(create(MsgWithdrawDelegatorRewardSchema, at), { from: alice });
  const [first, second] = chain.exportTwice();
  expect(second).toEqual(first);
});

test("a transaction that is sent thousands of times waits once, and leaves with its block", () => {
  const engine = new KvNetwork().engine();
  const tx = kvTx("a=1");
  engine.mempool.add(tx);
  for (let i = 0; i < 2_000; i++) expect(() => engine.mempool.add(tx)).toThrow("tx already exists in cache");
  expect([engine.mempool.size, engine.mempool.bytes]).toEqual([1, tx.length]);
  engine.produceBlock();
  expect([engine.mempool.size, engine.mempool.bytes]).toEqual([0, 0]);
  expect(() => engine.mempool.add(tx)).toThrow("tx already exists in cache");
});
