import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  actionsOf,
  coin,
  emptyContext,
  type GroupInit,
  groupSpec,
  type Init,
  MIN_DEPOSIT,
  marketEvents,
  orderOf,
  price,
  TestMarket,
  walkPages,
} from "../../../test/support/chain/index.ts";
import { genesisProblems, standardModules } from "../../app/index.ts";
import { brokenInvariants } from "../../runtime/index.ts";
import { type TestChain, testChain, testKey } from "../../testing/index.ts";
import { MsgCreateBidSchema } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import {
  MsgCreateProviderSchema,
  MsgDeleteProviderSchema,
  MsgUpdateProviderSchema,
  type Provider,
  ProviderSchema,
  Query,
} from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { decodeAddress, type OrderKey } from "../../wire/index.ts";
import { providerModule } from "./index.ts";

type Change = Init<typeof MsgCreateProviderSchema>;

const bob = testKey("bob");
const HOST = "https://provider.example.com:8443";

function attributes(pairs: Readonly<Record<string, string>>) {
  return Object.entries(pairs).map(([key, value]) => ({ key, value }));
}

function register(chain: TestChain, change: Change = {}, from = bob) {
  return chain.send(create(MsgCreateProviderSchema, { owner: from.address, hostUri: HOST, ...change }), { from });
}

function update(chain: TestChain, change: Change = {}, from = bob) {
  return chain.send(create(MsgUpdateProviderSchema, { owner: from.address, hostUri: HOST, ...change }), { from });
}

function remove(chain: TestChain, from = bob) {
  return chain.send(create(MsgDeleteProviderSchema, { owner: from.address }), { from });
}

function find(chain: TestChain, owner: string): Provider | undefined {
  return chain.query(Query.method.provider, { owner }).provider;
}

function list(chain: TestChain, pagination: MessageInitShape<typeof Query.method.providers.input>["pagination"] = {}) {
  return chain.query(Query.method.providers, { pagination });
}

/** Invalid provider records, with the numbers of their errors. */
const BAD: readonly [string, Change, number, RegExp][] = [
  ["no owner", { owner: "" }, 5, /owner "" is not an account address: invalid address/],
  ["an owner that is not an address", { owner: "bob" }, 5, /owner "bob" is not an account address: invalid address/],
  ["an owner of another network", { owner: "cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6" }, 5, /invalid address/],
  ["no host", { hostUri: "" }, 2, /"": not absolute host uri/],
  ["a host without scheme", { hostUri: "provider.example.com:8443" }, 2, /not absolute host uri/],
  ["a path", { hostUri: "/provider" }, 2, /not absolute host uri/],
  ["http", { hostUri: "http://provider.example.com" }, 1, /invalid host uri/],
  ["HTTPS", { hostUri: "HTTPS://provider.example.com" }, 1, /invalid host uri/],
  ["an empty host", { hostUri: "https://" }, 1, /invalid host uri/],
  ["a port alone", { hostUri: "https://:8443" }, 1, /invalid host uri/],
  ["a host with a path", { hostUri: `${HOST}/status` }, 1, /invalid host uri/],
  ["a slash at the end", { hostUri: `${HOST}/` }, 1, /invalid host uri/],
  ["a query", { hostUri: `${HOST}?a=b` }, 1, /invalid host uri/],
  ["a user", { hostUri: "https://user:secret@provider.example.com" }, 1, /invalid host uri/],
  ["a space", { hostUri: "https://provider .example.com" }, 1, /invalid host uri/],
  ["a line end", { hostUri: `${HOST}\n` }, 1, /invalid host uri/],
  ["a name outside ASCII", { hostUri: "https://bücher.example" }, 1, /invalid host uri/],
  ["two dots", { hostUri: "https://provider..example.com" }, 1, /invalid host uri/],
  ["port 0", { hostUri: "https://provider.example.com:0" }, 1, /invalid host uri/],
  ["port 65536", { hostUri: "https://provider.example.com:65536" }, 1, /invalid host uri/],
  ["an endless host", { hostUri: `https://${"a.".repeat(300)}com` }, 1, /invalid host uri/],
  [
    "an attribute key",
    { attributes: attributes({ "no good": "x" }) },
    6,
    /key "no good": a key may only have letters, digits and _ \/ \. -: attribute specification error/,
  ],
  ["a pattern", { attributes: attributes({ "feature/*": "x" }) }, 6, /invalid attribute key "feature/],
  ["a key twice", { attributes: [...attributes({ aa: "1" }), ...attributes({ aa: "2" })] }, 6, /aa appears twice/],
  [
    "129 attributes",
    { attributes: attributes(Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`key${i}`, ""]))) },
    6,
    /129 attributes, at most 128 are allowed/,
  ],
  ["a long value", { attributes: attributes({ aa: "x".repeat(257) }) }, 6, /aa is too long/],
  ["a website without host", { info: { website: "https://" } }, 8, /invalid info website/],
  ["a website that runs code", { info: { website: "javascript:alert(1)" } }, 8, /invalid info website/],
  ["a website with spaces", { info: { website: "see my site" } }, 8, /invalid info website/],
  ["a long website", { info: { website: `https://a.b/${"x".repeat(250)}` } }, 8, /invalid info website/],
  ["an email without domain", { info: { email: "bob" } }, 11, /"bob": invalid info email/],
  ["an email with a space", { info: { email: "bo b@example.com" } }, 11, /invalid info email/],
  ["two emails", { info: { email: "bob@example.com,bob@example.org" } }, 11, /invalid info email/],
  ["a long email", { info: { email: `bob@${"a.".repeat(130)}com` } }, 11, /invalid info email/],
];

describe("MsgCreateProvider", () => {
  test("registers a provider and emits an event", () => {
    const chain = testChain();
    const info = { email: "ops@example.com", website: "https://example.com/about?x=1#top" };
    const sent = register(chain, { attributes: attributes({ region: "eu", host: "acme" }), info });
    expect(sent.code).toBe(0);
    expect(marketEvents(sent)).toMatchObject([{ module: "provider", action: "provider-created", owner: bob.address }]);
    const action = sent.logs[0]?.events.find(({ type }) => type === "message")?.attributes;
    expect(action).toContainEqual({ key: "action", value: "create-provider" });
    expect(find(chain, bob.address)).toMatchObject({
      owner: bob.address,
      hostUri: HOST,
      attributes: attributes({ region: "eu", host: "acme" }),
      info,
      createdAt: sent.height,
      updatedAt: sent.height,
    });
    expect(sent.gasUsed).toBeGreaterThan(60_000n);
    expect(sent.gasUsed).toBeLessThan(200_000n);
  });

  test.each([
    "https://localhost:8443",
    "https://127.0.0.1",
    "https://[::1]:8443",
    "https://my_host-1.Example.com",
    "https://xn--bcher-kva.example:65535",
  ])("takes the host %s", (hostUri) => {
    expect(register(testChain(), { hostUri }).code).toBe(0);
  });

  test.each(["", "example.com", "http://example.com:8080/", "https://example.com/a%20b"])(
    'takes the website "%s"',
    (website) => {
      expect(register(testChain(), { info: { website } }).code).toBe(0);
    },
  );

  test.each(BAD)("refuses %s", (_name, change, code, text) => {
    const chain = testChain();
    const sent = register(chain, change);
    expect(sent).toMatchObject({ codespace: "provider", code, log: expect.stringMatching(text) });
    expect(sent.log.length).toBeLessThan(300);
    expect(list(chain).providers).toEqual([]);
  });

  test("refuses a provider that exists, and a foreign signature", () => {
    const chain = testChain();
    const foreign = create(MsgCreateProviderSchema, { owner: bob.address, hostUri: HOST });
    expect(chain.send(foreign, { from: chain.key("carol") })).toMatchObject({ codespace: "sdk" });
    register(chain);
    expect(register(chain)).toMatchObject({ codespace: "provider", code: 4 });
  });
});

describe("MsgUpdateProvider", () => {
  test("replaces the record, keeps its beginning and emits an event", () => {
    const chain = testChain();
    const { height } = register(chain, { attributes: attributes({ region: "eu" }), info: { email: "a@b.c" } });
    chain.nextBlock(3);
    const sent = update(chain, { hostUri: "https://other.example.com", attributes: attributes({ tier: "home" }) });
    expect(marketEvents(sent)).toMatchObject([{ module: "provider", action: "provider-updated", owner: bob.address }]);
    expect(find(chain, bob.address)).toMatchObject({
      hostUri: "https://other.example.com",
      attributes: attributes({ tier: "home" }),
      info: { email: "", website: "" },
      createdAt: height,
      updatedAt: sent.height,
    });
  });

  test.each(BAD)("refuses %s", (_name, change, code, text) => {
    const chain = testChain();
    register(chain);
    expect(update(chain, change)).toMatchObject({
      codespace: "provider",
      code,
      log: expect.stringMatching(text),
    });
    expect(find(chain, bob.address)?.hostUri).toBe(HOST);
  });

  test("refuses an unregistered provider", () => {
    const sent = update(testChain());
    expect(sent).toMatchObject({ codespace: "provider", code: 3, log: expect.stringContaining(bob.address) });
  });
});

/** A chain on which bob offers attributes and alice has an order that requires some. */
function withOrder(options: { offered: Readonly<Record<string, string>>; required: Readonly<Record<string, string>> }) {
  const chain = testChain();
  const market = new TestMarket(chain);
  const alice = chain.key("alice");
  expect(register(chain, { attributes: attributes(options.offered) }).code).toBe(0);
  const requirements = { attributes: attributes(options.required) };
  const group: GroupInit = { ...groupSpec("web"), requirements };
  const order = orderOf(market.deploy(alice, { dseq: 1n, groups: [group] }));
  return { chain, market, alice, order };
}

describe("attributes that active leases ask for", () => {
  const offered = { region: "eu", tier: "home", "feature/a": "true", "feature/b": "true" };
  const required = { region: "eu", "feature/*": "true" };
  const refused = { codespace: "provider", code: 7 };

  test("cannot be taken away or changed while the lease lasts, others can", () => {
    const { chain, market, alice, order } = withOrder({ offered, required });
    market.leased(alice, order, { provider: bob, price: "1" });
    const set = (next: Readonly<Record<string, string>>) => update(chain, { attributes: attributes(next) });
    expect(set({})).toMatchObject(refused);
    expect(set({ ...offered, region: "us" })).toMatchObject(refused);
    expect(set({ region: "eu", "feature/c": "false" })).toMatchObject(refused);
    expect(find(chain, bob.address)?.attributes).toHaveLength(4);
    expect(set({ ...offered, more: "yes" }).code).toBe(0);
    expect(set({ region: "eu", "feature/b": "true" }).code).toBe(0);
    expect(
      update(chain, { attributes: attributes({ region: "eu", "feature/b": "true" }), hostUri: "https://b.c" }).code,
    ).toBe(0);
    expect(market.closeBid(bob, order).code).toBe(0);
    expect(set({}).code).toBe(0);
  });

  test("do not bind who only has a bid", () => {
    const { chain, market, order } = withOrder({ offered, required });
    expect(market.bid(bob, order, "1").code).toBe(0);
    expect(update(chain, { attributes: [] }).code).toBe(0);
  });

  test("are those of one's own leases", () => {
    const { chain, market, alice, order } = withOrder({ offered, required });
    const carol = chain.key("carol");
    register(chain, { attributes: attributes(offered) }, carol);
    market.leased(alice, order, { provider: carol, price: "1" });
    expect(update(chain, { attributes: [] }).code).toBe(0);
    expect(update(chain, { attributes: [] }, carol)).toMatchObject(refused);
  });
});

describe("MsgDeleteProvider", () => {
  test("removes the record and emits an event; the account can register again", () => {
    const chain = testChain();
    register(chain);
    expect(actionsOf(remove(chain))).toEqual(["provider-deleted"]);
    expect(() => find(chain, bob.address)).toThrow(/address not found/);
    expect(remove(chain)).toMatchObject({ codespace: "provider", code: 3 });
    const again = register(chain);
    expect(find(chain, bob.address)).toMatchObject({ createdAt: again.height, updatedAt: again.height });
  });

  test.each(["", "bob"])('refuses the owner "%s"', (owner) => {
    const message = create(MsgDeleteProviderSchema, { owner });
    expect(testChain().send(message, { from: bob })).toMatchObject({ codespace: "provider", code: 5 });
  });

  test("closes open bids and returns their deposits, whatever has become of other bids", () => {
    const { chain, market, alice, order } = withOrder({ offered: {}, required: {} });
    const carol = chain.key("carol");
    register(chain, {}, carol);
    const before = chain.balance(bob.address);
    const others = [2n, 3n, 4n].map((dseq) => orderOf(market.deploy(alice, { dseq })));
    for (const each of [order, ...others]) expect(market.bid(bob, each, "1").code).toBe(0);
    const [lost, withdrawn] = others as [OrderKey, OrderKey];
    market.leased(alice, lost, { provider: carol, price: "1" });
    market.closeBid(bob, withdrawn);
    const sent = remove(chain);
    expect(actionsOf(sent)).toEqual(["bid-closed", "bid-closed", "provider-deleted"]);
    expect(marketEvents(sent)[0]).toMatchObject({ reason: "provider_deleted" });
    expect(chain.balance(bob.address)).toBe(before);
    expect(() => market.bidOf({ ...order, provider: bob.address })).toThrow("bid not found");
    expect(market.order(order).state).toBe(1);
  });

  test("is refused with an active lease, and possible after it", () => {
    const { chain, market, alice, order } = withOrder({ offered: {}, required: {} });
    market.leased(alice, order, { provider: bob, price: "1" });
    expect(remove(chain)).toMatchObject({ codespace: "provider", code: 12 });
    expect(find(chain, bob.address)?.owner).toBe(bob.address);
    market.closeLease(alice, order, { provider: bob });
    expect(actionsOf(remove(chain))).toEqual(["provider-deleted"]);
  });

  test("is possible once the money of its lease has ended", () => {
    const chain = testChain();
    const market = new TestMarket(chain);
    const alice = chain.key("alice");
    market.register(bob);
    const groups = [groupSpec("web", { price: "50000" })];
    const order = orderOf(market.deploy(alice, { dseq: 1n, groups }));
    market.leased(alice, order, { provider: bob, price: "50000" });
    chain.nextBlock(99);
    expect(remove(chain)).toMatchObject({ codespace: "provider", code: 12 });
    expect(remove(chain).code).toBe(0);
  });

  test("is refused with more than a hundred open bids", () => {
    const chain = testChain();
    const market = new TestMarket(chain);
    const alice = chain.key("alice");
    market.register(bob);
    const groups = Array.from({ length: 17 }, (_, i) => groupSpec(`group${i}`));
    const orders = [1n, 2n, 3n, 4n, 5n, 6n].flatMap((dseq) => {
      const id = market.deploy(alice, { dseq, groups });
      return groups.map((_, i) => orderOf(id, i + 1));
    });
    const bids = orders
      .slice(0, 101)
      .map((order) =>
        create(MsgCreateBidSchema, { order, provider: bob.address, price: price("1"), deposit: coin(MIN_DEPOSIT) }),
      );
    chain.mustSend(bids, { from: bob });
    expect(remove(chain)).toMatchObject({ codespace: "provider", code: 13 });
    const [first] = orders;
    if (first !== undefined) market.closeBid(bob, first);
    const sent = remove(chain);
    expect(actionsOf(sent)).toHaveLength(101);
    expect(chain.balance(bob.address)).toBe(10n ** 12n);
    // It pays for each bid.
    expect(sent.gasUsed).toBeGreaterThan(2_000_000n);
  });
});

describe("queries", () => {
  test("walk all providers in pages", () => {
    const names = ["a", "b", "c", "d", "e"];
    const chain = testChain({ accounts: names });
    for (const name of names) register(chain, { info: { email: `${name}@example.com` } }, chain.key(name));
    const emails = (providers: readonly Provider[]) => providers.map(({ info }) => info?.email[0]);
    const all = emails(list(chain).providers);
    expect(all.toSorted()).toEqual(names);
    expect(list(chain).pagination?.total).toBe(5n);
    const ask = (pagination: object) => list(chain, pagination);
    expect(walkPages(ask, ({ providers }) => emails(providers), { limit: 2n })).toEqual(all);
    expect(emails(list(chain, { offset: 3n }).providers)).toEqual(all.slice(3));
    expect(emails(list(chain, { reverse: true }).providers)).toEqual(all.toReversed());
  });

  test("refuse what is not an address and what does not exist", () => {
    const chain = testChain();
    expect(() => find(chain, "bob")).toThrow(/invalid address/);
    expect(() => find(chain, bob.address)).toThrow(`${bob.address}: address not found`);
  });
});

describe("genesis", () => {
  test("comes back as it was", () => {
    const { chain, market, alice, order } = withOrder({ offered: { region: "eu" }, required: { region: "eu" } });
    register(chain, { info: { email: "a@b.c", website: "b.c" } }, chain.key("carol"));
    market.leased(alice, order, { provider: bob, price: "1" });
    chain.nextBlock(2);
    update(chain, { attributes: attributes({ region: "eu", tier: "home" }) });
    const [before, after] = chain.exportTwice();
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
    expect(before).toMatchObject({ provider: { providers: { length: 2 } } });
  });

  test("names every problem", () => {
    const { modules } = standardModules();
    const owner = bob.address;
    const providers = [
      { owner, host_uri: HOST },
      { owner: "bob", host_uri: HOST },
      { owner: testKey("carol").address, host_uri: "https://" },
      { owner: testKey("dave").address, host_uri: HOST, attributes: [{ key: "x", value: "" }] },
      { owner, host_uri: HOST },
    ];
    expect(genesisProblems(modules, { provider: { providers } })).toEqual([
      'provider: providers[1]: owner "bob" is not an account address: invalid address',
      'provider: providers[2]: "https://": invalid host uri',
      'provider: providers[3]: invalid attribute key "x": it is too short, a key has 2 to 127 characters: attribute specification error',
      `provider: providers[4]: ${owner} appears twice`,
    ]);
  });
});

test("a record that stands under another's address is noticed", () => {
  const { keeper, module } = providerModule({
    activeRequirements: () => [],
    hasActiveLease: () => false,
    openBids: () => 0,
    closeOpenBids: () => {},
  });
  const ctx = emptyContext("provider");
  keeper.restore(ctx, create(ProviderSchema, { owner: bob.address, hostUri: HOST }));
  expect(brokenInvariants([module], ctx)).toEqual([]);
  const { address } = testKey("carol");
  keeper.providers.set(ctx.store("provider"), decodeAddress(address), create(ProviderSchema, { owner: bob.address }));
  expect(brokenInvariants([module], ctx)).toEqual([`provider/owners: the record of ${address} names ${bob.address}`]);
});
