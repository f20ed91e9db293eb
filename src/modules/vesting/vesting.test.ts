import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { consensusKey, createValidatorMessage, operatorAddress } from "../../../test/support/chain/index.ts";
import { genesisProblems, standardModules } from "../../app/index.ts";
import { consensusAddress, moduleAddress } from "../../crypto/index.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { Query as Auth } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query as Bank } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { MsgDelegateSchema, MsgUndelegateSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import {
  MsgCreatePeriodicVestingAccountSchema,
  MsgCreatePermanentLockedAccountSchema,
  MsgCreateVestingAccountSchema,
} from "../../wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import {
  ContinuousVestingAccountSchema,
  DelayedVestingAccountSchema,
  PeriodicVestingAccountSchema,
  PermanentLockedAccountSchema,
} from "../../wire/gen/sdk/vesting/v1beta1/vesting_pb.js";
import { encodeAddress, toJson, unpackAs } from "../../wire/index.ts";
import { MAX_VESTING_PERIODS } from "../auth/index.ts";

const M = 1_000_000n;
const SECOND = 1_000_000_000n;
const coin = (amount: bigint) => ({ denom: NATIVE_DENOM, amount: `${amount}` });
const now = (chain: TestChain) => chain.time / SECOND;
/** The second of the next block. */
const soon = (chain: TestChain) => now(chain) + 6n;

function setUp(genesis: object = {}): { chain: TestChain; alice: TestKey; vera: TestKey } {
  const chain = testChain({ genesis: { ...genesis } });
  const alice = chain.key("alice");
  chain.mustSend(createValidatorMessage(alice, { amount: 10n * M }), { from: alice });
  return { chain, alice, vera: testKey("vera") };
}

function lock(amount: bigint, toAddress: string, endTime: bigint, delayed = false) {
  const fromAddress = testKey("alice").address;
  return create(MsgCreateVestingAccountSchema, { fromAddress, toAddress, amount: [coin(amount)], endTime, delayed });
}

function permanent(amount: bigint, toAddress: string) {
  const fromAddress = testKey("alice").address;
  return create(MsgCreatePermanentLockedAccountSchema, { fromAddress, toAddress, amount: [coin(amount)] });
}

function periodic(toAddress: string, startTime: bigint, periods: readonly (readonly [bigint, bigint])[]) {
  return create(MsgCreatePeriodicVestingAccountSchema, {
    fromAddress: testKey("alice").address,
    toAddress,
    startTime,
    vestingPeriods: periods.map(([length, amount]) => ({ length, amount: [coin(amount)] })),
  });
}

const send = (from: TestKey, to: string, amount: bigint) =>
  create(MsgSendSchema, { fromAddress: from.address, toAddress: to, amount: [coin(amount)] });
const delegate = (from: TestKey, amount: bigint) =>
  create(MsgDelegateSchema, {
    delegatorAddress: from.address,
    validatorAddress: operatorAddress(testKey("alice")),
    amount: coin(amount),
  });
const undelegate = (from: TestKey, amount: bigint) =>
  create(MsgUndelegateSchema, {
    delegatorAddress: from.address,
    validatorAddress: operatorAddress(testKey("alice")),
    amount: coin(amount),
  });
const spendable = (chain: TestChain, address: string) =>
  BigInt(chain.query(Bank.method.spendableBalanceByDenom, { address, denom: NATIVE_DENOM }).balance?.amount ?? "none");
const account = (chain: TestChain, address: string) => chain.query(Auth.method.account, { address }).account;

describe("coins that come free evenly", () => {
  test("can be spent by the part of the time that has passed, and as fees only then", () => {
    const { chain, alice, vera } = setUp();
    chain.mustSend(lock(1000n, vera.address, soon(chain) + 60n), { from: alice });
    expect(spendable(chain, vera.address)).toBe(0n);
    expect(chain.balance(vera.address)).toBe(1000n);
    expect(chain.query(Bank.method.spendableBalances, { address: vera.address }).balances).toMatchObject([coin(0n)]);
    // A fee of locked coins is refused before the transaction waits for a block.
    expect(
      chain.send(send(vera, alice.address, 1n), { from: vera, fee: [{ denom: NATIVE_DENOM, amount: 1n }] }),
    ).toMatchObject({ code: 5 });
    chain.nextBlock();
    expect(spendable(chain, vera.address)).toBe(100n);
    expect(chain.send(send(vera, alice.address, 300n), { from: vera })).toMatchObject({
      code: 5,
      log: expect.stringContaining("200utoken is smaller than 300utoken: insufficient funds"),
    });
    chain.mustSend(send(vera, alice.address, 290n), { from: vera, fee: [{ denom: NATIVE_DENOM, amount: 10n }] });
    expect(spendable(chain, vera.address)).toBe(0n);
    chain.nextBlock(10);
    expect(spendable(chain, vera.address)).toBe(700n);
    chain.mustSend(send(vera, alice.address, 700n), { from: vera });
    expect(chain.balance(vera.address)).toBe(0n);
  });

  test("are rounded to the nearest, half to even, in one division of 18 digits", () => {
    const { chain, alice, vera } = setUp();
    chain.mustSend(lock(10n, vera.address, soon(chain) + 24n), { from: alice });
    const seen: bigint[] = [];
    for (let i = 0; i < 4; i++) {
      chain.nextBlock();
      seen.push(spendable(chain, vera.address));
    }
    // 2.5, 5, 7.5 and 10 of 10.
    expect(seen).toEqual([2n, 5n, 8n, 10n]);
  });

  test("are shown as what they are, in the spelling of the asker", () => {
    const { chain, alice, vera } = setUp();
    const end = soon(chain) + 60n;
    chain.mustSend(lock(1000n, vera.address, end), { from: alice });
    const shown = unpackAs(ContinuousVestingAccountSchema, account(chain, vera.address));
    expect(shown).toMatchObject({ startTime: end - 60n, baseVestingAccount: { endTime: end } });
    expect(shown?.baseVestingAccount).toMatchObject({
      baseAccount: { address: vera.address, sequence: 0n },
      originalVesting: [coin(1000n)],
      delegatedFree: [],
      delegatedVesting: [],
    });
  });
});

test("coins that come free at the end are locked until then", () => {
  const { chain, alice, vera } = setUp();
  chain.mustSend(lock(1000n, vera.address, soon(chain) + 12n, true), { from: alice });
  chain.nextBlock();
  expect(spendable(chain, vera.address)).toBe(0n);
  chain.nextBlock();
  expect(spendable(chain, vera.address)).toBe(1000n);
});

test("coins of periods come free at the end of each", () => {
  const { chain, alice, vera } = setUp();
  const start = soon(chain);
  chain.mustSend(
    periodic(vera.address, start, [
      [6n, 100n],
      [12n, 50n],
      [1n, 7n],
    ]),
    { from: alice },
  );
  const seen = [spendable(chain, vera.address)];
  for (let i = 0; i < 4; i++) {
    chain.nextBlock();
    seen.push(spendable(chain, vera.address));
  }
  expect(seen).toEqual([0n, 100n, 100n, 150n, 157n]);
  const shown = unpackAs(PeriodicVestingAccountSchema, account(chain, vera.address));
  expect(shown).toMatchObject({ startTime: start, baseVestingAccount: { endTime: start + 19n } });
  expect(shown?.vestingPeriods).toHaveLength(3);
});

test("permanently locked coins can be delegated and never sent", () => {
  const { chain, alice, vera } = setUp();
  chain.mustSend(permanent(1000n, vera.address), { from: alice });
  chain.nextBlock(20);
  expect(spendable(chain, vera.address)).toBe(0n);
  chain.mustSend(delegate(vera, 600n), { from: vera });
  expect(unpackAs(PermanentLockedAccountSchema, account(chain, vera.address))).toMatchObject({
    baseVestingAccount: { endTime: 0n, delegatedVesting: [coin(600n)], delegatedFree: [] },
  });
  expect(chain.send(send(vera, alice.address, 1n), { from: vera })).toMatchObject({ code: 5 });
  // Received coins are free.
  chain.mustSend(send(alice, vera.address, 30n), { from: alice });
  expect(spendable(chain, vera.address)).toBe(30n);
  expect(chain.send(send(vera, alice.address, 31n), { from: vera })).toMatchObject({ code: 5 });
  expect(chain.send(delegate(vera, 431n), { from: vera })).toMatchObject({ code: 5 });
  chain.mustSend(delegate(vera, 430n), { from: vera });
  expect(unpackAs(PermanentLockedAccountSchema, account(chain, vera.address))).toMatchObject({
    baseVestingAccount: { delegatedVesting: [coin(1000n)], delegatedFree: [coin(30n)] },
  });
});

describe("delegated coins", () => {
  /** Coins come back after two blocks. */
  const quick = () => {
    const params = {
      unbonding_time: "12s",
      max_validators: 3,
      max_entries: 3,
      historical_entries: 0,
      bond_denom: NATIVE_DENOM,
    };
    return setUp({ staking: { params, last_total_power: "0" } });
  };

  test("that were locked count first, and those that were free come back first", () => {
    const { chain, alice, vera } = quick();
    chain.mustSend(lock(1000n, vera.address, soon(chain) + 6000n, true), { from: alice });
    chain.mustSend(send(alice, vera.address, 500n), { from: alice });
    chain.mustSend(delegate(vera, 1200n), { from: vera });
    expect(delegatedOf(chain, vera)).toMatchObject({ delegatedVesting: [coin(1000n)], delegatedFree: [coin(200n)] });
    expect(spendable(chain, vera.address)).toBe(300n);
    chain.mustSend(undelegate(vera, 500n), { from: vera });
    // They stay delegated until they are back.
    expect(delegatedOf(chain, vera)).toMatchObject({ delegatedVesting: [coin(1000n)], delegatedFree: [coin(200n)] });
    chain.nextBlock(3);
    expect(delegatedOf(chain, vera)).toMatchObject({ delegatedVesting: [coin(700n)], delegatedFree: [] });
    expect(chain.balance(vera.address)).toBe(800n);
    expect(spendable(chain, vera.address)).toBe(500n);
    // Two rounds of export keep the delegated coins.
    const [first, second] = chain.exportTwice();
    expect(Object(second).auth).toEqual(Object(first).auth);
  });

  test("of which a part was slashed leave no more locked than is there", () => {
    const { chain, alice, vera } = quick();
    chain.mustSend(permanent(M, vera.address), { from: alice });
    chain.mustSend(delegate(vera, M), { from: vera });
    const address = consensusAddress(consensusKey("alice"));
    const proof = { kind: "duplicateVote", validator: { address, power: 11n }, totalVotingPower: 11n } as const;
    chain.block([], [{ ...proof, height: chain.height, time: chain.time }]);
    expect(delegatedOf(chain, vera)).toMatchObject({ delegatedVesting: [coin(M)] });
    chain.mustSend(undelegate(vera, 950_000n), { from: vera });
    chain.nextBlock(3);
    expect(chain.balance(vera.address)).toBe(950_000n);
    expect(delegatedOf(chain, vera)).toMatchObject({ delegatedVesting: [coin(50_000n)] });
    expect(spendable(chain, vera.address)).toBe(0n);
    // Received coins are free after a loss too.
    chain.mustSend(send(alice, vera.address, 10n), { from: alice });
    expect(spendable(chain, vera.address)).toBe(10n);
  });
});

/** An account's delegated coins as clients read them. */
function delegatedOf(chain: TestChain, { address }: TestKey) {
  const any = account(chain, address);
  const kinds = [DelayedVestingAccountSchema, PermanentLockedAccountSchema] as const;
  return kinds.map((kind) => unpackAs(kind, any)?.baseVestingAccount).find((each) => each !== undefined);
}

describe("messages are refused", () => {
  const { chain, alice, vera } = setUp();
  const bob = testKey("bob").address;
  const module = encodeAddress(moduleAddress("bonded_tokens_pool"));
  test.each([
    [
      "an end that has passed",
      () => lock(5n, vera.address, now(chain)),
      /end time \d+ is not after the time of the block/,
    ],
    ["no end", () => lock(5n, vera.address, 0n), /invalid end time/],
    ["an end beyond all calendars", () => lock(5n, vera.address, 2n ** 62n), /must be at most/],
    ["no coins", () => lock(0n, vera.address, soon(chain) + 9n), /not positive/],
    ["an account that is there", () => lock(5n, bob, soon(chain) + 9n), /already exists: invalid request/],
    ["the account of a module", () => permanent(5n, module), /not allowed to receive funds/],
    ["more than the sender has", () => permanent(10n ** 13n, vera.address), /insufficient funds/],
    ["no periods", () => periodic(vera.address, 1n, []), /at least one is needed/],
    ["no start", () => periodic(vera.address, 0n, [[1n, 1n]]), /invalid start time of 0/],
    ["a period without length", () => periodic(vera.address, 1n, [[0n, 1n]]), /invalid period length of 0 in period 0/],
    [
      "a period that takes time back",
      () =>
        periodic(vera.address, 1n, [
          [9n, 1n],
          [-8n, 1n],
        ]),
      /invalid period length of -8 in period 1/,
    ],
    [
      "lengths beyond all numbers",
      () =>
        periodic(vera.address, 1n, [
          [2n ** 63n - 1n, 1n],
          [2n ** 63n - 1n, 1n],
        ]),
      /must be at most/,
    ],
    [
      "one period too many",
      () =>
        periodic(
          vera.address,
          1n,
          Array.from({ length: MAX_VESTING_PERIODS + 1 }, () => [1n, 1n] as const),
        ),
      /at most 500 are allowed/,
    ],
    [
      "amounts that add up to more than can be",
      () =>
        periodic(vera.address, 1n, [
          [1n, 2n ** 256n - 1n],
          [1n, 2n ** 256n - 1n],
        ]),
      /insufficient funds/,
    ],
  ] as const)("%s", (_, message, text) => {
    const sent = chain.send(message(), { from: alice });
    expect(sent.code).not.toBe(0);
    expect(sent.log).toMatch(text);
    expect(() => account(chain, vera.address)).toThrow(/not found/);
  });

  test("and the largest number of periods is taken", () => {
    const message = periodic(
      testKey("most").address,
      1n,
      Array.from({ length: MAX_VESTING_PERIODS }, () => [1n, 1n]),
    );
    chain.mustSend(message, { from: alice, gas: 10_000_000n });
    expect(spendable(chain, testKey("most").address)).toBe(500n);
    chain.mustSend(send(testKey("most"), alice.address, 1n), { from: testKey("most") });
  });
});

describe("genesis", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => testKey(name).address);
  const base = (address: string | undefined, rest: object = {}) => ({
    base_account: { address },
    original_vesting: [coin(100n)],
    delegated_free: [],
    delegated_vesting: [],
    end_time: "2000000000",
    ...rest,
  });
  const account = (kind: string, base_vesting_account: object, rest: object = {}) => ({
    "@type": `/cosmos.vesting.v1beta1.${kind}`,
    base_vesting_account,
    ...rest,
  });
  const periods = [{ length: "10", amount: [coin(100n)] }];

  test("knows the four kinds, and what goes out comes in again", () => {
    const accounts = [
      account("ContinuousVestingAccount", base(a), { start_time: "1700000000" }),
      account("DelayedVestingAccount", base(b)),
      account("PermanentLockedAccount", base(c, { end_time: "0" })),
      account("PeriodicVestingAccount", base(d), { start_time: "1999999990", vesting_periods: periods }),
    ];
    const chain = testChain({ accounts: ["a", "b", "c", "d"], genesis: { auth: { accounts } } });
    expect(spendable(chain, a ?? "")).toBe(10n ** 12n - 88n);
    for (const address of [b, c, d]) expect(spendable(chain, address ?? "")).toBe(10n ** 12n - 100n);
    chain.mustSend(createValidatorMessage(testKey("d"), { amount: 10n * M }), { from: testKey("d") });
    const [first, second] = chain.exportTwice();
    expect(second).toMatchObject({ auth: { accounts: Object(first).auth.accounts } });
  });

  test("every bad account is named", () => {
    const { modules } = standardModules();
    const accounts = [
      account("ContinuousVestingAccount", base(a), { start_time: "2000000000" }),
      account("PermanentLockedAccount", base(b)),
      account("DelayedVestingAccount", base(c, { delegated_vesting: [coin(101n)] })),
      account("PeriodicVestingAccount", base(d), {
        start_time: "1999999990",
        vesting_periods: [...periods, ...periods],
      }),
      account("PeriodicVestingAccount", base(a), {
        start_time: "1999999980",
        vesting_periods: [...periods, ...periods],
      }),
      account("DelayedVestingAccount", base(b, { end_time: "-1" })),
      account("DelayedVestingAccount", {}),
      account("DelayedVestingAccount", base(c, { original_vesting: [coin(2n ** 256n)] })),
    ];
    const problems = genesisProblems(modules, { auth: { accounts } });
    const texts = [
      /accounts\[0\].*start_time 2000000000 must be before end_time 2000000000/,
      /accounts\[1\].*permanently locked coins have none/,
      /accounts\[2\].*delegated_vesting of utoken is more than original_vesting/,
      /accounts\[3\].*end_time must be start_time and the lengths of all vesting_periods/,
      /accounts\[4\].*original_vesting must be the sum of all vesting_periods/,
      /accounts\[5\].*must not be negative/,
      /accounts\[6\].*has a base_account/,
      /accounts\[7\].*invalid amount/,
    ];
    expect(problems).toHaveLength(texts.length);
    for (const [i, text] of texts.entries()) expect(problems[i]).toMatch(text);
  });
});

test("the account of an exported state says its kind", () => {
  const { chain, alice, vera } = setUp();
  chain.mustSend(permanent(1000n, vera.address), { from: alice });
  const { account: any } = chain.query(Auth.method.account, { address: vera.address });
  expect(any?.typeUrl).toBe("/sdk.vesting.v1beta1.PermanentLockedAccount");
  expect(toJson(Auth.method.account.output, chain.query(Auth.method.account, { address: vera.address }))).toMatchObject(
    {
      account: { base_vesting_account: { base_account: { address: vera.address } } },
    },
  );
});
