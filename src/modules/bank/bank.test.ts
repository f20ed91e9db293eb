import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyContext } from "../../../test/support/chain/index.ts";
import { genesisProblems, moduleSet } from "../../app/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { brokenInvariants } from "../../runtime/index.ts";
import type { PageRequest } from "../../store/index.ts";
import { type TestChain, type TestChainOptions, testChain, testKey } from "../../testing/index.ts";
import { Query } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgMultiSendSchema, MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { authModule } from "../auth/index.ts";
import { bankModule } from "./index.ts";

interface CoinText {
  readonly denom: string;
  readonly amount: string;
}

function coin(amount: string | bigint, denom = "utoken"): CoinText {
  return { denom, amount: amount.toString() };
}

function msgSend(from: string, to: string, amount: readonly CoinText[] = [coin("10")]) {
  return create(MsgSendSchema, { fromAddress: from, toAddress: to, amount: [...amount] });
}

function newChain(options: TestChainOptions = {}): TestChain {
  return testChain({ modules: () => [], ...options });
}

const nobody = testKey("nobody").address;

describe("MsgSend", () => {
  test("moves coins, creates the receiver, and emits the era's events", () => {
    const chain = newChain();
    const alice = chain.key("alice");
    const fee = [{ denom: "utoken", amount: 500n }];
    const sent = chain.mustSend(msgSend(alice.address, nobody), { from: alice, fee });
    expect(chain.balance(nobody)).toBe(10n);
    expect(chain.balance(alice.address)).toBe(10n ** 12n - 510n);
    expect(chain.balance(encodeAddress(moduleAddress("fee_collector")))).toBe(500n);
    expect(chain.account(nobody)).toEqual({ accountNumber: 5n, sequence: 0n });
    const attributes = (...pairs: [string, string][]) => pairs.map(([key, value]) => ({ key, value }));
    const message = attributes(["action", "send"], ["sender", alice.address], ["module", "bank"]);
    const transfer = attributes(["recipient", nobody], ["sender", alice.address], ["amount", "10utoken"]);
    const events = [
      { type: "message", attributes: message },
      { type: "transfer", attributes: transfer },
    ];
    expect(sent.log).toBe(JSON.stringify([{ events }]));
    expect(sent.events.map(({ type, attributes }) => [type, ...attributes.map(({ key }) => key)])).toEqual([
      ["tx", "acc_seq"],
      ["tx", "signature"],
      ["coin_spent", "spender", "amount"],
      ["coin_received", "receiver", "amount"],
      ["transfer", "recipient", "sender", "amount"],
      ["message", "sender"],
      ["tx", "fee", "fee_payer"],
      ["message", "action", "action", "action", "msg_index"],
      ["coin_spent", "spender", "amount", "msg_index"],
      ["coin_received", "receiver", "amount", "msg_index"],
      ["transfer", "recipient", "sender", "amount", "msg_index"],
      ["message", "sender", "msg_index"],
      ["message", "module", "msg_index"],
    ]);
    const values = (name: string) =>
      sent.events.flatMap((event) => event.attributes.filter(({ key }) => key === name).map(({ value }) => value));
    const isIndexed = (name: string, at: number) =>
      sent.events.flatMap(({ attributes }) => attributes.filter(({ key }) => key === name))[at]?.index;
    // The fee's are found by its transfer.
    expect([isIndexed("receiver", 0), isIndexed("receiver", 1), isIndexed("spender", 1)]).toEqual([false, true, true]);
    expect(values("action")).toEqual(["send", "/sdk.bank.v1beta1.MsgSend", "/cosmos.bank.v1beta1.MsgSend"]);
    expect(values("spender")).toEqual([alice.address, alice.address]);
    expect(values("receiver")).toEqual([encodeAddress(moduleAddress("fee_collector")), nobody]);
  });

  test("to oneself changes nothing", () => {
    const chain = newChain();
    const from = chain.key("alice");
    chain.mustSend(msgSend(from.address, from.address, [coin(10n ** 12n)]), { from });
    expect(chain.balance(from.address)).toBe(10n ** 12n);
  });

  test("of everything leaves no balance behind", () => {
    const chain = newChain();
    const from = chain.key("alice");
    chain.mustSend(msgSend(from.address, nobody, [coin(10n ** 12n)]), { from });
    expect(chain.query(Query.method.allBalances, { address: from.address }).balances).toEqual([]);
  });

  test.each<[string, readonly CoinText[], RegExp]>([
    ["nothing", [], /no coins given: invalid coins/],
    ["zero", [coin("0")], /0utoken is not positive/],
    ["minus one", [coin("-1")], /invalid amount "-1" of utoken/],
    ["minus zero", [coin("-0")], /invalid amount/],
    ["a sign", [coin("+1")], /invalid amount/],
    ["leading zeros", [coin("01")], /invalid amount/],
    ["decimals", [coin("1.5")], /invalid amount/],
    ["an exponent", [coin("1e6")], /invalid amount/],
    ["no digits", [coin("")], /invalid amount/],
    ["spaces", [coin(" 5")], /invalid amount/],
    ["2^256", [coin(2n ** 256n)], /invalid amount/],
    ["a million digits", [coin("9".repeat(100_000))], /invalid amount "9{80}\.\.\." of utoken: invalid coins$/],
    ["no denomination", [coin("1", "")], /invalid denomination ""/],
    ["a digit in front", [coin("1", "1abc")], /invalid denomination "1abc"/],
    ["a long denomination", [coin("1", "a".repeat(129))], /invalid denomination "a{80}\.\.\."/],
    ["punctuation", [coin("1", "utoken;")], /invalid denomination/],
    ["a look-alike", [coin("1", "υtoken")], /invalid denomination/],
    ["a wrong order", [coin("1", "utoken"), coin("1", "stake")], /not sorted by denomination/],
    ["a denomination twice", [coin("1"), coin("2")], /utoken appears twice/],
  ])("refuses %s", (_name, amount, text) => {
    const chain = newChain();
    const from = chain.key("alice");
    const sent = chain.send(msgSend(from.address, nobody, amount), { from });
    expect(sent).toMatchObject({ code: 10, codespace: "sdk" });
    expect(sent.log).toMatch(text);
  });

  test("refuses module accounts, malformed addresses and more than there is", () => {
    const chain = newChain();
    const from = chain.key("alice");
    const collector = encodeAddress(moduleAddress("fee_collector"));
    const send = (to: string, amount = [coin("1")]) => chain.send(msgSend(from.address, to, amount), { from });
    expect(send(collector)).toMatchObject({
      code: 4,
      log: `failed to execute message; message index: 0: ${collector} is not allowed to receive funds: unauthorized`,
    });
    expect(send("cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6")).toMatchObject({ code: 7, codespace: "sdk" });
    expect(send(nobody, [coin(10n ** 12n + 1n)])).toMatchObject({
      code: 5,
      log: "failed to execute message; message index: 0: 1000000000000utoken is smaller than 1000000000001utoken: insufficient funds",
    });
    expect(send(nobody, [coin("1", "stake"), coin("1")])).toMatchObject({ code: 5 });
    expect(chain.balance(nobody)).toBe(0n);
  });

  test("refuses denominations whose sending is switched off", () => {
    const params = { default_send_enabled: true, send_enabled: [{ denom: "stake", enabled: false }] };
    const { address } = testKey("alice");
    const balances = [{ address, coins: [coin("5", "stake"), coin("1000")] }];
    const chain = newChain({ genesis: { bank: { params, balances } } });
    const from = chain.key("alice");
    expect(chain.send(msgSend(from.address, nobody, [coin("1", "stake"), coin("1")]), { from })).toMatchObject({
      code: 5,
      codespace: "bank",
      log: "failed to execute message; message index: 0: stake transfers are currently disabled: send transactions are disabled",
    });
    expect(chain.send(msgSend(from.address, nobody), { from }).code).toBe(0);
  });
});

describe("MsgMultiSend", () => {
  test("moves from several to several when the sums agree", () => {
    const chain = newChain();
    const [alice, bob, carol] = [chain.key("alice"), chain.key("bob"), chain.key("carol")];
    const message = create(MsgMultiSendSchema, {
      inputs: [
        { address: alice.address, coins: [coin("7")] },
        { address: bob.address, coins: [coin("3")] },
      ],
      outputs: [
        { address: carol.address, coins: [coin("4")] },
        { address: nobody, coins: [coin("6")] },
      ],
    });
    const { logs } = chain.mustSend(message, { from: alice, with: [bob] });
    expect([alice, bob, carol].map(({ address }) => chain.balance(address) - 10n ** 12n)).toEqual([-7n, -3n, 4n]);
    expect(chain.balance(nobody)).toBe(6n);
    expect(logs[0]?.events.map(({ type, attributes }) => [type, ...attributes.map(({ value }) => value)])).toEqual([
      ["message", "multisend", alice.address, bob.address, "bank"],
      ["transfer", carol.address, "4utoken", nobody, "6utoken"],
    ]);
  });

  test.each<[string, readonly string[], readonly string[], number]>([
    ["no inputs", [], ["1"], 2],
    ["no outputs", ["1"], [], 3],
    ["sums that differ", ["5"], ["2", "2"], 4],
  ])("refuses %s", (_name, inputs, outputs, code) => {
    const chain = newChain();
    const from = chain.key("alice");
    const message = create(MsgMultiSendSchema, {
      inputs: inputs.map((amount) => ({ address: from.address, coins: [coin(amount)] })),
      outputs: outputs.map((amount) => ({ address: nobody, coins: [coin(amount)] })),
    });
    expect(chain.send(message, { from })).toMatchObject({ code, codespace: "bank" });
  });
});

test("any transfers keep every invariant and the sum of all balances", () => {
  const chain = newChain();
  const names = [...chain.keys.keys()];
  const step = fc.record({
    from: fc.constantFrom(...names),
    to: fc.constantFrom(...names),
    amount: fc.bigInt({ min: 1n, max: 2n * 10n ** 12n }),
  });
  fc.assert(
    fc.property(step, ({ from, to, amount }) => {
      const key = chain.key(from);
      const before = chain.balance(key.address);
      const sent = chain.send(msgSend(key.address, chain.key(to).address, [coin(amount)]), { from: key });
      expect(sent.code).toBe(amount <= before ? 0 : 5);
      const sum = names.reduce((total, name) => total + chain.balance(chain.key(name).address), 0n);
      expect(sum).toBe(4n * 10n ** 12n);
    }),
    { numRuns: 100 },
  );
});

describe("queries", () => {
  const coins = { aaa: 1n, bbb: 2n, ccc: 3n };

  test("balances in pages, by denomination, spendable", () => {
    const chain = newChain({ coins });
    const { address } = chain.key("alice");
    const first = chain.query(Query.method.allBalances, { address, pagination: { limit: 2n } });
    expect(first.balances.map(({ denom, amount }) => `${amount}${denom}`)).toEqual(["1aaa", "2bbb"]);
    expect(first.pagination?.total).toBe(0n);
    const key = first.pagination?.nextKey ?? new Uint8Array();
    const second = chain.query(Query.method.spendableBalances, { address, pagination: { key } });
    expect(second.balances.map(({ denom }) => denom)).toEqual(["ccc"]);
    expect(chain.query(Query.method.balance, { address, denom: "ddd" }).balance).toMatchObject(coin("0", "ddd"));
    expect(() => chain.query(Query.method.balance, { address, denom: "!" })).toThrow('invalid denomination "!"');
    expect(() => chain.query(Query.method.allBalances, { address, pagination: { limit: 1001n } })).toThrow(/1000 rows/);
  });

  test("who holds a denomination, in pages", () => {
    const chain = newChain({ coins: { aaa: 1n } });
    const [alice, bob] = [chain.key("alice"), chain.key("bob")];
    chain.mustSend(create(MsgSendSchema, { fromAddress: bob.address, toAddress: nobody, amount: [coin("1", "aaa")] }), {
      from: bob,
    });
    const owners = (pagination = {}) => chain.query(Query.method.denomOwners, { denom: "aaa", pagination });
    const held = owners().denomOwners.map(({ address, balance }) => `${address} ${balance?.amount}${balance?.denom}`);
    expect(held).toEqual(expect.arrayContaining([`${alice.address} 1aaa`, `${nobody} 1aaa`]));
    expect(held.join(" ")).not.toContain(bob.address);
    const first = owners({ limit: 1n });
    const second = owners({ key: first.pagination?.nextKey ?? new Uint8Array() });
    expect([...first.denomOwners, ...second.denomOwners]).toEqual(owners().denomOwners);
    expect(() => chain.query(Query.method.denomOwners, { denom: "!" })).toThrow('invalid denomination "!"');
  });

  test("denominations with a rule of their own", () => {
    const rules = [
      { denom: "aaa", enabled: false },
      { denom: "bbb", enabled: true },
    ];
    const chain = newChain({ genesis: { bank: { params: { send_enabled: rules, default_send_enabled: true } } } });
    const asked = (...denoms: string[]) => chain.query(Query.method.sendEnabled, { denoms }).sendEnabled;
    expect(asked()).toMatchObject(rules);
    expect(asked("bbb", "ccc")).toMatchObject(rules.slice(1));
    expect(chain.query(Query.method.sendEnabled, { denoms: ["bbb"] }).pagination).toBeUndefined();
    const page = (pagination: Partial<PageRequest>) => chain.query(Query.method.sendEnabled, { pagination });
    const first = page({ limit: 1n, countTotal: true });
    expect(first).toMatchObject({ sendEnabled: rules.slice(0, 1), pagination: { total: 2n } });
    const key = first.pagination?.nextKey ?? new Uint8Array(0);
    expect(page({ key })).toMatchObject({ sendEnabled: rules.slice(1), pagination: { nextKey: new Uint8Array(0) } });
    expect(page({ limit: 1n, reverse: true }).sendEnabled).toMatchObject(rules.slice(1));
    expect(page({ offset: 1n }).sendEnabled).toMatchObject(rules.slice(1));
    expect(() => page({ key: Uint8Array.of(1) })).toThrow("does not come from this list");
    expect(() => page({ key, offset: 1n })).toThrow("either offset or key");
  });

  test("supply and metadata", () => {
    const { address } = testKey("alice");
    const metadata = {
      base: "utoken",
      display: "TOKEN",
      denom_units: [{ denom: "utoken" }, { denom: "TOKEN", exponent: 6 }],
    };
    const bank = { balances: [{ address, coins: [coin("5")] }], denom_metadata: [metadata] };
    const chain = newChain({ genesis: { bank } });
    expect(chain.query(Query.method.supplyOf, { denom: "utoken" }).amount).toMatchObject(coin("5"));
    expect(chain.query(Query.method.totalSupply, {}).supply).toMatchObject([coin("5")]);
    expect(chain.query(Query.method.denomsMetadata, {}).metadatas).toHaveLength(1);
    expect(chain.query(Query.method.denomMetadata, { denom: "utoken" }).metadata?.display).toBe("TOKEN");
    expect(() => chain.query(Query.method.denomMetadata, { denom: "stake" })).toThrow(
      /client denom metadata not found/,
    );
  });
});

describe("what other modules can do", () => {
  function keepers() {
    const auth = authModule();
    const bank = bankModule(auth.keeper);
    auth.keeper.modules.register([
      { name: "mint", permissions: ["minter"] },
      { name: "burn", permissions: ["burner"] },
    ]);
    return { auth: auth.keeper, bank: bank.keeper, module: bank.module, ctx: emptyContext("auth", "bank") };
  }

  test("mint and burn with permission, move between modules, and the supply follows", () => {
    const { bank, module, ctx } = keepers();
    const some = (amount: bigint) => [{ denom: "utoken", amount }];
    bank.mint(ctx, "mint", some(100n));
    bank.sendModuleToModule(ctx, "mint", "burn", some(60n));
    bank.burn(ctx, "burn", some(25n));
    bank.sendFromModule(ctx, "burn", testKey("a").bytes, some(5n));
    bank.sendToModule(ctx, testKey("a").bytes, "mint", some(2n));
    expect(bank.supply(ctx, "utoken")).toBe(75n);
    expect([bank.moduleBalance(ctx, "mint", "utoken"), bank.moduleBalance(ctx, "burn", "utoken")]).toEqual([42n, 30n]);
    expect(brokenInvariants([module], ctx)).toEqual([]);
    expect(() => bank.mint(ctx, "burn", some(1n))).toThrow(
      "burn is not a minter: the module may not change the supply",
    );
    expect(() => bank.burn(ctx, "mint", some(1n))).toThrow("mint is not a burner");
    expect(() => bank.mint(ctx, "nosuch", some(1n))).toThrow("nosuch: no such module account");
    expect(() => bank.mint(ctx, "mint", some(2n ** 256n - 75n))).toThrow(
      "supply of utoken: the amount is beyond 2^256",
    );
  });

  test("a supply that is not the sum of the balances is noticed", () => {
    const { bank, module, ctx } = keepers();
    bank.mint(ctx, "mint", [{ denom: "utoken", amount: 100n }]);
    bank.setSupply(ctx, "utoken", 99n);
    expect(brokenInvariants([module], ctx)).toEqual([
      "bank/supply: the balances add up to 100utoken, the supply is 99utoken",
    ]);
    bank.balances.set(ctx.store("bank"), [testKey("a").bytes, "utoken"], -1n);
    expect(brokenInvariants([module], ctx)).toEqual([
      expect.stringMatching(/^bank\/supply: account \w{40} holds -1utoken$/),
    ]);
  });
});

test("genesis names every problem", () => {
  const { modules } = moduleSet(() => []);
  const { address } = testKey("a");
  const problems = (bank: object) => genesisProblems(modules, { bank });
  expect(problems({ balances: [{ address, coins: [coin("5")] }], supply: [coin("6")] })).toEqual([
    "bank: supply: is 6utoken, but the balances add up to 5utoken",
  ]);
  const bad = problems({
    balances: [
      { address: "svc1x", coins: [] },
      { address, coins: [coin("0")] },
      { address, coins: [] },
    ],
    denom_metadata: [{ base: "!" }, { base: "utoken", denom_units: [{ denom: "TOKEN" }] }],
  });
  expect(bad).toHaveLength(5);
  expect(bad[0]).toMatch(/^bank: balances\[0\]: .*invalid address$/);
  expect(bad[1]).toBe("bank: balances[1]: 0utoken is not positive: invalid coins");
  expect(bad[2]).toBe(`bank: balances[2]: ${address} appears twice`);
  expect(bad[4]).toBe("bank: denom_metadata[1]: the first unit must be utoken with exponent 0");
  expect(problems({ balances: {} })[0]).toMatch(/^bank: .*balances/);
  expect(problems({ nosuch: 1 })[0]).toMatch(/unknown field "nosuch"/);
});
