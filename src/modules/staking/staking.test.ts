import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  consensusKey,
  createValidatorMessage,
  genesisValidator,
  operatorAddress,
  type TestValidator,
  wholeShares,
} from "../../../test/support/chain/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { type SentTx, type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM, parseDec, toHex } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { BondStatus, GenesisStateSchema } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgCancelUnbondingDelegationSchema,
  MsgDelegateSchema,
  MsgEditValidatorSchema,
  MsgUndelegateResponseSchema,
  MsgUndelegateSchema,
  MsgUpdateParamsSchema,
} from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress, fromJson, publicKeyToAny, toJson } from "../../wire/index.ts";

const M = 1_000_000n;
const coin = (amount: bigint, denom = NATIVE_DENOM) => ({ denom, amount: `${amount}` });

/** Eleven blocks long, so that tests see the end of it. */
const UNBONDING = { unbonding_time: "60s" };

function newChain(params: object = UNBONDING): TestChain {
  const defaults = { unbonding_time: "60s", max_validators: 3, max_entries: 3, historical_entries: 5 };
  return testChain({
    accounts: ["alice", "bob", "carol", "dave", "erin"],
    genesis: {
      staking: {
        params: { ...defaults, bond_denom: NATIVE_DENOM, min_commission_rate: "0.010000000000000000", ...params },
        last_total_power: "0",
      },
    },
  });
}

function become(chain: TestChain, name: string, validator: TestValidator): SentTx {
  const key = chain.key(name);
  return chain.mustSend(createValidatorMessage(key, validator), { from: key });
}

/** Two validators: alice has ten million tokens bonded, bob five. */
function twoValidators(params: object = {}): { chain: TestChain; alice: TestKey; bob: TestKey; carol: TestKey } {
  const chain = newChain(params);
  become(chain, "alice", { amount: 10n * M });
  become(chain, "bob", { amount: 5n * M });
  return { chain, alice: chain.key("alice"), bob: chain.key("bob"), carol: chain.key("carol") };
}

const delegateTo = (from: TestKey, to: TestKey, amount: bigint, denom = NATIVE_DENOM) =>
  create(MsgDelegateSchema, {
    delegatorAddress: from.address,
    validatorAddress: operatorAddress(to),
    amount: coin(amount, denom),
  });
const unbondFrom = (from: TestKey, to: TestKey, amount: bigint) =>
  create(MsgUndelegateSchema, {
    delegatorAddress: from.address,
    validatorAddress: operatorAddress(to),
    amount: coin(amount),
  });
const move = (who: TestKey, from: TestKey, to: TestKey, amount: bigint) =>
  create(MsgBeginRedelegateSchema, {
    delegatorAddress: who.address,
    validatorSrcAddress: operatorAddress(from),
    validatorDstAddress: operatorAddress(to),
    amount: coin(amount),
  });
const cancel = (who: TestKey, from: TestKey, amount: bigint, height: bigint) =>
  create(MsgCancelUnbondingDelegationSchema, {
    delegatorAddress: who.address,
    validatorAddress: operatorAddress(from),
    amount: coin(amount),
    creationHeight: height,
  });

const validator = (chain: TestChain, key: TestKey) =>
  chain.query(Query.method.validator, { validatorAddr: operatorAddress(key) }).validator;
const delegation = (chain: TestChain, who: TestKey, to: TestKey) =>
  chain.query(Query.method.delegation, { delegatorAddr: who.address, validatorAddr: operatorAddress(to) })
    .delegationResponse;
const pool = (chain: TestChain) => {
  const { pool: held } = chain.query(Query.method.pool, {});
  return [held?.bondedTokens, held?.notBondedTokens];
};

/** Attributes of the first event of a type. */
function event(events: SentTx["events"], type: string): Record<string, string> {
  const found = events.find((each) => each.type === type);
  return Object.fromEntries((found?.attributes ?? []).map(({ key, value }) => [key, value]));
}

describe("MsgCreateValidator", () => {
  test("makes a validator that votes from the block after the next on", () => {
    const chain = newChain();
    const alice = chain.key("alice");
    const sent = become(chain, "alice", { amount: 10n * M + 7n });
    expect(event(sent.events, "create_validator")).toMatchObject({
      validator: operatorAddress(alice),
      amount: "10000007utoken",
    });
    expect(chain.validatorUpdates).toEqual([{ pubKey: consensusKey("alice"), power: 10n }]);
    expect(validator(chain, alice)).toMatchObject({
      status: BondStatus.BONDED,
      jailed: false,
      tokens: "10000007",
      delegatorShares: wholeShares(10_000_007n),
      commission: { commissionRates: { rate: `${parseDec("0.1")}` } },
    });
    expect(pool(chain)).toEqual(["10000007", "0"]);
    expect(chain.balance(alice.address)).toBe(10n ** 12n - 10_000_007n);
    expect(sent.gasUsed).toBeLessThan(200_000n);
  });

  type Change = Parameters<typeof createValidatorMessage>[2];
  const refused: [string, Partial<TestValidator>, Change, object][] = [
    ["a key that signs already", { signer: "alice" }, {}, { code: 6 }],
    ["a key of another kind", {}, { pubkey: publicKeyToAny(testKey("bob").publicKey) }, { code: 7 }],
    ["a rate above the maximum", { commission: ["0.6", "0.5", "0.1"] }, {}, { code: 12 }],
    ["a maximum above all", { commission: ["0.6", "1.5", "0.1"] }, {}, { code: 11 }],
    ["a change above the maximum", { commission: ["0.1", "0.5", "0.6"] }, {}, { code: 15 }],
    ["a rate below that of the chain", { commission: ["0.009", "0.5", "0.1"] }, {}, { code: 48 }],
    ["less than the minimum of its own", { minSelfDelegation: 2n * M }, {}, { code: 17 }],
    ["no minimum", { minSelfDelegation: 0n }, {}, { codespace: "sdk", code: 18 }],
    ["money of another", {}, { delegatorAddress: testKey("alice").address }, { code: 3 }],
    ["another denomination", {}, { value: coin(M, "other") }, { codespace: "sdk", code: 18 }],
    ["a name that is too long", {}, { description: { moniker: "m".repeat(71) } }, { codespace: "sdk", code: 18 }],
    ["nothing said of it", {}, { description: {} }, { codespace: "sdk", code: 18 }],
    ["more than there is", { amount: 10n ** 13n }, {}, { codespace: "sdk", code: 5 }],
  ];
  test.each(refused)("refuses %s", (_name, change, message, refusal) => {
    const chain = newChain();
    become(chain, "alice", { amount: M });
    const bob = chain.key("bob");
    const sent = chain.send(createValidatorMessage(bob, { amount: M, ...change }, message), { from: bob });
    expect(sent).toMatchObject({ codespace: "staking", ...refusal });
  });

  test("refuses a second one of an operator", () => {
    const chain = newChain();
    become(chain, "alice", { amount: M });
    const again = createValidatorMessage(chain.key("alice"), { amount: M, signer: "new" });
    expect(chain.send(again, { from: chain.key("alice") })).toMatchObject({ codespace: "staking", code: 5 });
  });
});

describe("MsgEditValidator", () => {
  const KEEP = "[do-not-modify]";
  const keepAll = { moniker: KEEP, identity: KEEP, website: KEEP, securityContact: KEEP, details: KEEP };
  const edit = (key: TestKey, change: object) =>
    create(MsgEditValidatorSchema, { validatorAddress: operatorAddress(key), description: keepAll, ...change });

  test("changes what is named and keeps the rest", () => {
    const { chain, alice } = twoValidators();
    const change = { description: { ...keepAll, website: "https://example.com" }, minSelfDelegation: "5" };
    const sent = chain.mustSend(edit(alice, change), { from: alice });
    expect(event(sent.events, "edit_validator")).toMatchObject({
      commission_rate: "0.100000000000000000",
      min_self_delegation: "5",
    });
    expect(validator(chain, alice)).toMatchObject({
      description: { moniker: "alice", website: "https://example.com" },
      minSelfDelegation: "5",
    });
  });

  test("changes the commission once a day, by a bounded amount", () => {
    const alice = testKey("alice");
    const { validator: made, delegation: own } = genesisValidator(alice, 7n * M);
    const balances = [alice.address, encodeAddress(moduleAddress("not_bonded_tokens_pool"))].map((address) => ({
      address,
      coins: [coin(7n * M)],
    }));
    const params = { unbonding_time: "60s", max_validators: 3, max_entries: 3, bond_denom: NATIVE_DENOM };
    const staking = { params: { ...params, min_commission_rate: "0.01" }, validators: [made], delegations: [own] };
    const chain = testChain({ genesis: { staking, bank: { balances } } });
    const to = (rate: string) => chain.send(edit(alice, { commissionRate: `${parseDec(rate)}` }), { from: alice });
    expect(to("0.151")).toMatchObject({ codespace: "staking", code: 16 });
    expect(to("0.51")).toMatchObject({ codespace: "staking", code: 12 });
    expect(to("0.001")).toMatchObject({ codespace: "staking", code: 48 });
    expect(to("1.1")).toMatchObject({ codespace: "sdk", code: 18 });
    expect(to("0.15")).toMatchObject({ code: 0 });
    expect(validator(chain, alice)?.commission?.commissionRates?.rate).toBe(`${parseDec("0.15")}`);
    expect(to("0.14")).toMatchObject({ codespace: "staking", code: 13 });
  });

  test("raises the minimum of its own, never lowers it", () => {
    const { chain, alice } = twoValidators();
    const to = (minimum: bigint) => chain.send(edit(alice, { minSelfDelegation: `${minimum}` }), { from: alice });
    expect(to(1n)).toMatchObject({ codespace: "staking", code: 19 });
    expect(to(11n * M)).toMatchObject({ codespace: "staking", code: 17 });
    expect(to(10n * M)).toMatchObject({ code: 0 });
  });
});

describe("MsgDelegate", () => {
  test("gives shares for tokens, one for one while nobody was slashed", () => {
    const { chain, alice, carol } = twoValidators();
    const sent = chain.mustSend(delegateTo(carol, alice, 1_500_000n), { from: carol });
    expect(event(sent.events, "delegate")).toEqual({
      validator: operatorAddress(alice),
      delegator: carol.address,
      amount: "1500000utoken",
      new_shares: "1500000.000000000000000000",
      msg_index: "0",
    });
    expect(delegation(chain, carol, alice)).toMatchObject({
      delegation: { shares: wholeShares(1_500_000n) },
      balance: { denom: NATIVE_DENOM, amount: "1500000" },
    });
    expect(chain.validatorUpdates).toEqual([{ pubKey: consensusKey("alice"), power: 11n }]);
    expect(sent.gasUsed).toBeLessThan(150_000n);
    expect(sent.events.some(({ type }) => type === "coin_spent")).toBe(true);
  });

  test("refuses nothing, other denominations, strangers, and more than there is", () => {
    const { chain, alice, carol } = twoValidators();
    const from = { from: carol };
    expect(chain.send(delegateTo(carol, alice, 0n), from)).toMatchObject({ codespace: "sdk", code: 18 });
    expect(chain.send(delegateTo(carol, alice, 5n, "other"), from)).toMatchObject({ codespace: "sdk", code: 18 });
    expect(chain.send(delegateTo(carol, carol, 5n), from)).toMatchObject({ codespace: "staking", code: 4 });
    expect(chain.send(delegateTo(carol, alice, 10n ** 13n), from)).toMatchObject({ codespace: "sdk", code: 5 });
  });
});

describe("MsgUndelegate", () => {
  test("holds the money until its time has come", () => {
    const { chain, alice, carol } = twoValidators();
    chain.mustSend(delegateTo(carol, alice, 3n * M), { from: carol });
    const sent = chain.mustSend(unbondFrom(carol, alice, M), { from: carol });
    const time = new Date(Number(chain.time / 1_000_000n) + 60_000).toISOString().replace(".000Z", "Z");
    expect(event(sent.events, "unbond")).toMatchObject({ amount: "1000000utoken", completion_time: time });
    expect(sent.response(MsgUndelegateResponseSchema).amount).toMatchObject(coin(M));
    expect(pool(chain)).toEqual([`${17n * M}`, `${M}`]);
    chain.nextBlock(9);
    expect(chain.balance(carol.address)).toBe(10n ** 12n - 3n * M);
    chain.nextBlock();
    expect(chain.balance(carol.address)).toBe(10n ** 12n - 2n * M);
    expect(event(chain.blockEvents, "complete_unbonding")).toMatchObject({
      amount: "1000000utoken",
      validator: operatorAddress(alice),
      delegator: carol.address,
    });
  });

  test("has a bounded number of entries; two of one block are one", () => {
    const { chain, alice, carol } = twoValidators();
    chain.mustSend(delegateTo(carol, alice, 3n * M), { from: carol });
    chain.mustSend([unbondFrom(carol, alice, 5n), unbondFrom(carol, alice, 6n)], { from: carol });
    chain.mustSend(unbondFrom(carol, alice, 7n), { from: carol });
    chain.mustSend(unbondFrom(carol, alice, 8n), { from: carol });
    const { unbond } = chain.query(Query.method.unbondingDelegation, {
      delegatorAddr: carol.address,
      validatorAddr: operatorAddress(alice),
    });
    expect(unbond?.entries.map(({ balance }) => balance)).toEqual(["11", "7", "8"]);
    expect(chain.send(unbondFrom(carol, alice, 9n), { from: carol })).toMatchObject({ codespace: "staking", code: 34 });
  });

  test("of an operator below the minimum jails the validator, and of everything removes it in the end", () => {
    const { chain, alice, bob } = twoValidators();
    chain.mustSend(unbondFrom(bob, bob, 5n * M), { from: bob });
    expect(chain.validatorUpdates).toEqual([{ pubKey: consensusKey("bob"), power: 0n }]);
    expect(validator(chain, bob)).toMatchObject({ jailed: true, status: BondStatus.UNBONDING, tokens: "0" });
    expect(chain.send(delegateTo(alice, bob, 5n), { from: alice })).toMatchObject({ code: 0 });
    chain.mustSend(unbondFrom(alice, bob, 5n), { from: alice });
    chain.nextBlock(10);
    expect(() => validator(chain, bob)).toThrow("not found");
    expect(pool(chain)).toEqual([`${10n * M}`, "0"]);
    become(chain, "bob", { amount: M });
  });

  test("refuses more than is delegated", () => {
    const { chain, alice, carol } = twoValidators();
    expect(chain.send(unbondFrom(carol, alice, 5n), { from: carol })).toMatchObject({ codespace: "staking", code: 24 });
    chain.mustSend(delegateTo(carol, alice, 5n), { from: carol });
    expect(chain.send(unbondFrom(carol, alice, 6n), { from: carol })).toMatchObject({ codespace: "sdk", code: 18 });
  });
});

describe("MsgCancelUnbondingDelegation", () => {
  test("delegates part of an unbonding again, or all of it", () => {
    const { chain, alice, carol } = twoValidators();
    chain.mustSend(delegateTo(carol, alice, 3n * M), { from: carol });
    const { height } = chain.mustSend(unbondFrom(carol, alice, M), { from: carol });
    const back = (amount: bigint, at = height) => chain.send(cancel(carol, alice, amount, at), { from: carol });
    expect(back(M + 1n)).toMatchObject({ codespace: "sdk", code: 18 });
    expect(back(5n, height + 1n)).toMatchObject({ codespace: "sdk", code: 38 });
    const sent = back(400_000n);
    expect(event(sent.events, "cancel_unbonding_delegation")).toMatchObject({
      amount: "400000utoken",
      creation_height: `${height}`,
    });
    expect(pool(chain)).toEqual([`${17n * M + 400_000n}`, "600000"]);
    expect(back(600_000n)).toMatchObject({ code: 0 });
    expect(delegation(chain, carol, alice)?.balance?.amount).toBe(`${3n * M}`);
    expect(back(1n)).toMatchObject({ codespace: "staking", code: 33 });
  });
});

describe("MsgBeginRedelegate", () => {
  test("moves a delegation at once, and not on again while it answers for the first validator", () => {
    const { chain, alice, bob, carol } = twoValidators();
    chain.mustSend(delegateTo(carol, alice, 3n * M), { from: carol });
    const sent = chain.mustSend(move(carol, alice, bob, M), { from: carol });
    expect(event(sent.events, "redelegate")).toMatchObject({
      source_validator: operatorAddress(alice),
      destination_validator: operatorAddress(bob),
      amount: "1000000utoken",
    });
    expect(delegation(chain, carol, bob)?.balance?.amount).toBe("1000000");
    expect(chain.send(move(carol, bob, alice, 5n), { from: carol })).toMatchObject({ codespace: "staking", code: 40 });
    const listed = chain.query(Query.method.redelegations, { srcValidatorAddr: operatorAddress(alice) });
    expect(listed.redelegationResponses).toMatchObject([
      {
        redelegation: { entries: [] },
        entries: [{ balance: "1000000", redelegationEntry: { initialBalance: "1000000" } }],
      },
    ]);
    chain.nextBlock(9);
    expect(event(chain.blockEvents, "complete_redelegation")).toMatchObject({ amount: "1000000utoken" });
    chain.mustSend(move(carol, bob, alice, M), { from: carol });
  });

  test("has a bounded number of entries, goes to another validator, and only to one that exists", () => {
    const { chain, alice, bob, carol } = twoValidators();
    chain.mustSend(delegateTo(carol, alice, 3n * M), { from: carol });
    const to = (key: TestKey) => chain.send(move(carol, alice, key, 5n), { from: carol });
    expect(to(alice)).toMatchObject({ codespace: "staking", code: 37 });
    expect(to(carol)).toMatchObject({ codespace: "staking", code: 39 });
    for (let i = 0; i < 3; i++) expect(to(bob)).toMatchObject({ code: 0 });
    expect(to(bob)).toMatchObject({ codespace: "staking", code: 41 });
  });
});

describe("the voters", () => {
  test("are the strongest, as many as there may be; who is pushed out unbonds", () => {
    const { chain, bob } = twoValidators();
    become(chain, "carol", { amount: 3n * M });
    become(chain, "dave", { amount: 4n * M });
    expect(chain.validatorUpdates).toEqual([
      { pubKey: consensusKey("dave"), power: 4n },
      { pubKey: consensusKey("carol"), power: 0n },
    ]);
    expect(validator(chain, chain.key("carol"))?.status).toBe(BondStatus.UNBONDING);
    expect(pool(chain)).toEqual([`${19n * M}`, `${3n * M}`]);
    // As strong as another one does not push it out where the address is the greater.
    chain.mustSend(delegateTo(bob, chain.key("carol"), 2n * M), { from: bob });
    expect(chain.validatorUpdates).toEqual([
      { pubKey: consensusKey("carol"), power: 5n },
      { pubKey: consensusKey("dave"), power: 0n },
    ]);
    chain.nextBlock(11);
    expect(validator(chain, chain.key("dave"))?.status).toBe(BondStatus.UNBONDED);
  });

  test("less than one unit of power is not a voter", () => {
    const chain = newChain();
    become(chain, "alice", { amount: M - 1n });
    expect(chain.validatorUpdates).toEqual([]);
    expect(validator(chain, chain.key("alice"))?.status).toBe(BondStatus.UNBONDED);
    const { chain: other } = twoValidators();
    expect(other.query(Query.method.validators, { status: "BOND_STATUS_BONDED" }).validators).toHaveLength(2);
    expect(other.query(Query.method.validators, { status: "BOND_STATUS_UNBONDED" }).validators).toEqual([]);
    expect(() => other.query(Query.method.validators, { status: "GOOD" })).toThrow("unknown state");
  });

  test("of the last blocks are remembered", () => {
    const { chain } = twoValidators();
    chain.nextBlock(7);
    const hashBefore = chain.app.info().lastBlockAppHash;
    chain.nextBlock();
    const at = (height: bigint) => chain.query(Query.method.historicalInfo, { height }).hist;
    const info = at(chain.height);
    expect(info?.header).toMatchObject({ chainId: chain.chainId, height: chain.height });
    expect(toHex(info?.header?.appHash ?? new Uint8Array())).toBe(toHex(hashBefore));
    expect(info?.valset.map(({ description }) => description?.moniker)).toEqual(["alice", "bob"]);
    expect(at(chain.height - 4n)?.header?.height).toBe(chain.height - 4n);
    expect(() => at(chain.height - 5n)).toThrow("not found");
  });
});

describe("the state", () => {
  test("comes back as it was", () => {
    const { chain, alice, bob, carol } = twoValidators({ historical_entries: 0 });
    become(chain, "dave", { amount: M });
    chain.mustSend(delegateTo(carol, alice, 3n * M), { from: carol });
    chain.mustSend([unbondFrom(carol, alice, 5n), move(carol, alice, bob, 7n)], { from: carol });
    chain.mustSend(unbondFrom(chain.key("dave"), chain.key("dave"), M), { from: chain.key("dave") });
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
  });

  test("comes back as it was when nobody votes any longer", () => {
    const { chain, alice, bob } = twoValidators({ historical_entries: 0 });
    for (const key of [alice, bob]) {
      const amount = BigInt(validator(chain, key)?.tokens ?? 0);
      chain.mustSend(unbondFrom(key, key, amount), { from: key });
    }
    expect(() => chain.exportTwice()).not.toThrow();
  });

  test("of a bonded validator can stand in genesis: its tokens are bonded there and then", () => {
    const alice = testKey("alice");
    const { validator: made, delegation: own } = genesisValidator(alice, 7n * M);
    const [validators, delegations] = [[made], [own]];
    const balances = [{ address: encodeAddress(moduleAddress("not_bonded_tokens_pool")), coins: [coin(7n * M)] }];
    const chain = testChain({ genesis: { staking: { validators, delegations }, bank: { balances } } });
    expect(pool(chain)).toEqual(["7000000", "0"]);
    expect(validator(chain, alice)?.status).toBe(BondStatus.BONDED);
    expect(chain.voters.commit().votes).toMatchObject([{ validator: { power: 7n } }]);
    expect(() => testChain({ genesis: { staking: { validators, delegations } } })).toThrow("their pool holds 0");
    const broken = [{ ...own, shares: "7.000000000000000000" }];
    expect(() => testChain({ genesis: { staking: { validators, delegations: broken } } })).toThrow(
      "delegator_shares is not the sum of the delegations",
    );
  });

  test.each<[string, object, string]>([
    ["no time", { unbonding_time: "0s" }, "unbonding_time: must be positive"],
    ["nobody", { max_validators: 0 }, "max_validators: must be 1 to"],
    ["no entries", { max_entries: 0 }, "max_entries: must be 1 to"],
    ["a bad name", { bond_denom: "1" }, 'bond_denom: "1" is not a denomination'],
    ["a rate above 1", { min_commission_rate: "1.1" }, "min_commission_rate: must be 0 to 1"],
  ])("takes no parameters with %s", (_name, params, text) => {
    expect(() => newChain(params)).toThrow(text);
  });

  test("changes its parameters by nobody but governance", () => {
    const { chain, alice } = twoValidators();
    const params = chain.query(Query.method.params, {}).params;
    const message = create(MsgUpdateParamsSchema, { authority: alice.address, ...(params && { params }) });
    expect(chain.send(message, { from: alice })).toMatchObject({ codespace: "sdk", code: 4 });
    const bad = create(MsgUpdateParamsSchema, { authority: alice.address, params: { bondDenom: "1" } });
    expect(chain.send(bad, { from: alice })).toMatchObject({ codespace: "staking", code: 50 });
  });

  test("reads the genesis of the reference and writes it as that does", () => {
    const json = toJson(GenesisStateSchema, fromJson(GenesisStateSchema, { last_total_power: "12", exported: true }));
    expect(json).toMatchObject({ last_total_power: "12", exported: true, validators: [] });
    expect(json).not.toHaveProperty("last_unbonding_id");
  });
});
