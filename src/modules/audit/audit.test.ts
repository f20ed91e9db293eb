import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { emptyContext, type Init, marketEvents, TestMarket, walkPages } from "../../../test/support/chain/index.ts";
import { genesisProblems, standardModules } from "../../app/index.ts";
import { brokenInvariants } from "../../runtime/index.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import type { PageRequestSchema } from "../../wire/gen/sdk/base/query/v1beta1/pagination_pb.js";
import {
  type AuditedAttributes,
  AuditedAttributesSchema,
  MsgDeleteProviderAttributesSchema,
  MsgSignProviderAttributesSchema,
  Query,
  type QueryProvidersResponse,
} from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { MsgDeleteProviderSchema, MsgUpdateProviderSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { auditModule } from "./index.ts";

type Pairs = Readonly<Record<string, string>>;

const [alice, bob, carol, dave] = [testKey("alice"), testKey("bob"), testKey("carol"), testKey("dave")];

function attributes(pairs: Pairs) {
  return Object.entries(pairs).map(([key, value]) => ({ key, value }));
}

/** A chain on which alice and bob are providers; carol and dave audit. */
function newChain(): TestChain {
  const chain = testChain();
  new TestMarket(chain).register(alice, bob);
  return chain;
}

function setOwn(chain: TestChain, from: TestKey, pairs: Pairs): void {
  const record = { owner: from.address, hostUri: "https://provider.test:8443", attributes: attributes(pairs) };
  chain.mustSend(create(MsgUpdateProviderSchema, record), { from });
}

function sign(chain: TestChain, owner: string, pairs: Pairs, from = carol) {
  const message = { owner, auditor: from.address, attributes: attributes(pairs) };
  return chain.send(create(MsgSignProviderAttributesSchema, message), { from });
}

function unsign(chain: TestChain, owner: string, keys: readonly string[], from = carol) {
  const message = { owner, auditor: from.address, keys: [...keys] };
  return chain.send(create(MsgDeleteProviderAttributesSchema, message), { from });
}

function record(chain: TestChain, owner: string, auditor = carol.address): AuditedAttributes | undefined {
  return chain.query(Query.method.providerAuditorAttributes, { owner, auditor }).providers[0];
}

function pairsOf(found: AuditedAttributes | undefined): Pairs {
  return Object.fromEntries((found?.attributes ?? []).map(({ key, value }) => [key, value]));
}

describe("MsgSignProviderAttributes", () => {
  test("stores what an auditor vouches for, sorted, and emits an event", () => {
    const chain = newChain();
    const sent = sign(chain, bob.address, { tier: "home", region: "eu" });
    expect(sent.code).toBe(0);
    expect(marketEvents(sent)).toMatchObject([
      { module: "audit", action: "audit-trusted-auditor-created", owner: bob.address, auditor: carol.address },
    ]);
    const message = sent.logs[0]?.events.find(({ type }) => type === "message")?.attributes;
    expect(message).toContainEqual({ key: "action", value: "audit-sign-provider-attributes" });
    expect(record(chain, bob.address)).toMatchObject({
      owner: bob.address,
      auditor: carol.address,
      attributes: attributes({ region: "eu", tier: "home" }),
      signedAt: sent.height,
    });
    expect(sent.gasUsed).toBeGreaterThan(60_000n);
    expect(sent.gasUsed).toBeLessThan(200_000n);
  });

  test("again merges by key and is the newer signature", () => {
    const chain = newChain();
    sign(chain, bob.address, { region: "eu", tier: "home" });
    const { height } = sign(chain, bob.address, { region: "us", arch: "arm64" });
    expect(pairsOf(record(chain, bob.address))).toEqual({ arch: "arm64", region: "us", tier: "home" });
    expect(record(chain, bob.address)?.attributes.map(({ key }) => key)).toEqual(["arch", "region", "tier"]);
    expect(record(chain, bob.address)?.signedAt).toBe(height);
  });

  test("by two auditors, over two providers, are records of their own", () => {
    const chain = newChain();
    sign(chain, bob.address, { region: "eu" });
    sign(chain, bob.address, { region: "us" }, dave);
    sign(chain, alice.address, { region: "ap" });
    expect(pairsOf(record(chain, bob.address))).toEqual({ region: "eu" });
    expect(pairsOf(record(chain, bob.address, dave.address))).toEqual({ region: "us" });
    expect(pairsOf(record(chain, alice.address))).toEqual({ region: "ap" });
  });

  const numbered = (from: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${from + i}`, "x"]));

  test.each<[string, Pairs, RegExp]>([
    ["nothing", {}, /no attribute to sign: attribute specification error/],
    ["a bad key", { "no good": "x" }, /invalid attribute key "no good"/],
    ["a pattern", { "feature/*": "x" }, /invalid attribute key/],
    ["a long value", { region: "x".repeat(257) }, /the value of attribute region is too long/],
    ["too many at once", numbered(0, 129), /at most 128 are allowed/],
  ])("refuses %s", (_name, pairs, text) => {
    const chain = newChain();
    const sent = sign(chain, bob.address, pairs);
    expect(sent).toMatchObject({ codespace: "audit", code: 4, log: expect.stringMatching(text) });
    expect(() => record(chain, bob.address)).toThrow(/address not found/);
  });

  test("refuses a key twice", () => {
    const twice = [...attributes({ region: "eu" }), ...attributes({ region: "eu" })];
    const message = { owner: bob.address, auditor: carol.address, attributes: twice };
    const sent = newChain().send(create(MsgSignProviderAttributesSchema, message), { from: carol });
    expect(sent).toMatchObject({ codespace: "audit", code: 4 });
  });

  test("refuses more than 128 together with those that are there", () => {
    const chain = newChain();
    expect(sign(chain, bob.address, numbered(0, 100)).code).toBe(0);
    expect(sign(chain, bob.address, numbered(100, 29))).toMatchObject({ codespace: "audit", code: 4 });
    expect(sign(chain, bob.address, numbered(100, 28)).code).toBe(0);
    expect(sign(chain, bob.address, numbered(0, 128)).code).toBe(0);
  });

  test("refuses accounts that are not providers, malformed addresses and foreign signatures", () => {
    const chain = newChain();
    expect(sign(chain, dave.address, { region: "eu" })).toMatchObject({ codespace: "audit", code: 5 });
    expect(sign(chain, "bob", { region: "eu" })).toMatchObject({
      codespace: "audit",
      code: 2,
      log: 'owner "bob" is not an account address: invalid address',
    });
    const send = (auditor: string) => {
      const message = { owner: bob.address, auditor, attributes: attributes({ region: "eu" }) };
      return chain.send(create(MsgSignProviderAttributesSchema, message), { from: carol });
    };
    expect(send("")).toMatchObject({ codespace: "audit", code: 2 });
    expect(send(dave.address)).toMatchObject({ codespace: "sdk" });
  });
});

describe("MsgDeleteProviderAttributes", () => {
  function signed(): TestChain {
    const chain = newChain();
    sign(chain, bob.address, { region: "eu", tier: "home", arch: "arm64" });
    return chain;
  }

  test("removes the named keys, does not count as a signature, and emits an event", () => {
    const chain = signed();
    const { height } = chain;
    chain.nextBlock();
    const sent = unsign(chain, bob.address, ["tier", "tier", "arch"]);
    expect(marketEvents(sent)).toMatchObject([
      { module: "audit", action: "audit-trusted-auditor-deleted", owner: bob.address, auditor: carol.address },
    ]);
    expect(pairsOf(record(chain, bob.address))).toEqual({ region: "eu" });
    expect(record(chain, bob.address)?.signedAt).toBe(height);
  });

  test.each<[string, readonly string[]]>([
    ["no keys", []],
    ["all keys", ["arch", "region", "tier"]],
  ])("with %s removes the record", (_name, keys) => {
    const chain = signed();
    expect(unsign(chain, bob.address, keys).code).toBe(0);
    expect(() => record(chain, bob.address)).toThrow(/address not found/);
    expect(unsign(chain, bob.address, [])).toMatchObject({ codespace: "audit", code: 1 });
  });

  test("refuses unknown keys and records, and changes nothing then", () => {
    const chain = signed();
    expect(unsign(chain, bob.address, ["region", "nosuch"])).toMatchObject({
      codespace: "audit",
      code: 3,
      log: expect.stringContaining('"nosuch": attribute not found'),
    });
    expect(unsign(chain, bob.address, ["x".repeat(50_000)]).log.length).toBeLessThan(300);
    expect(Object.keys(pairsOf(record(chain, bob.address)))).toHaveLength(3);
    const missing = unsign(chain, bob.address, [], dave);
    expect(missing).toMatchObject({ codespace: "audit", code: 1 });
    expect(missing.log).toContain(`of ${bob.address} signed by ${dave.address}: address not found`);
  });

  test("refuses malformed addresses and foreign signatures", () => {
    const chain = signed();
    expect(unsign(chain, "", [])).toMatchObject({ codespace: "audit", code: 2 });
    const message = create(MsgDeleteProviderAttributesSchema, { owner: bob.address, auditor: carol.address });
    expect(chain.send(message, { from: bob })).toMatchObject({ codespace: "sdk" });
  });

  test("works for providers that are gone", () => {
    const chain = signed();
    chain.mustSend(create(MsgDeleteProviderSchema, { owner: bob.address }), { from: bob });
    expect(unsign(chain, bob.address, []).code).toBe(0);
  });
});

test("keys go stale when the provider's own value differs, and are current again with it", () => {
  const chain = newChain();
  const stale = () => record(chain, bob.address)?.staleKeys;
  setOwn(chain, bob, { region: "eu", tier: "home" });
  sign(chain, bob.address, { region: "eu", tier: "home" });
  expect(stale()).toEqual([]);
  setOwn(chain, bob, { region: "us", tier: "home" });
  expect(stale()).toEqual(["region"]);
  setOwn(chain, bob, {});
  expect(stale()).toEqual(["region", "tier"]);
  setOwn(chain, bob, { region: "eu", tier: "home", more: "x" });
  expect(stale()).toEqual([]);
  chain.mustSend(create(MsgDeleteProviderSchema, { owner: bob.address }), { from: bob });
  expect(stale()).toEqual(["region", "tier"]);
});

describe("queries", () => {
  const chain = newChain();
  for (const auditor of [alice, bob, carol, dave]) {
    for (const provider of [alice, bob]) sign(chain, provider.address, { region: "eu" }, auditor);
  }
  const names = new Map([alice, bob, carol, dave].map(({ name, address }) => [address, name]));
  const short = ({ providers }: QueryProvidersResponse) =>
    providers.map(({ owner, auditor }) => `${names.get(owner)} by ${names.get(auditor)}`);

  const pages = (ask: (pagination: Init<typeof PageRequestSchema>) => QueryProvidersResponse) => {
    const whole = ask({});
    const walked = walkPages(ask, short);
    expect(walked).toEqual(short(whole));
    expect(walkPages(ask, short, { reverse: true })).toEqual(walked.toReversed());
    expect(whole.pagination?.total).toBe(BigInt(walked.length));
    return walked;
  };

  test("all, of a provider, of an auditor, of both", () => {
    const { allProvidersAttributes, providerAttributes, auditorAttributes, providerAuditorAttributes } = Query.method;
    expect(pages((pagination) => chain.query(allProvidersAttributes, { pagination }))).toHaveLength(8);
    const ofProvider = (owner: string) => pages((pagination) => chain.query(providerAttributes, { owner, pagination }));
    const ofAuditor = (auditor: string) =>
      pages((pagination) => chain.query(auditorAttributes, { auditor, pagination }));
    expect(ofProvider(bob.address).toSorted()).toEqual(["bob by alice", "bob by bob", "bob by carol", "bob by dave"]);
    expect(ofAuditor(dave.address).toSorted()).toEqual(["alice by dave", "bob by dave"]);
    const both = { owner: alice.address, auditor: dave.address };
    expect(short(chain.query(providerAuditorAttributes, both))).toEqual(["alice by dave"]);
    expect(ofProvider(dave.address)).toEqual([]);
    expect(ofAuditor(testKey("nobody").address)).toEqual([]);
  });

  test("list stale keys everywhere", () => {
    const { providers } = chain.query(Query.method.auditorAttributes, { auditor: dave.address });
    expect(providers.map(({ staleKeys }) => staleKeys)).toEqual([["region"], ["region"]]);
  });

  test("refuse malformed addresses and what does not exist", () => {
    const { providerAttributes, auditorAttributes, providerAuditorAttributes } = Query.method;
    expect(() => chain.query(providerAttributes, { owner: "bob" })).toThrow(/invalid address/);
    expect(() => chain.query(auditorAttributes, { auditor: "" })).toThrow(/invalid address/);
    expect(() => chain.query(providerAuditorAttributes, { owner: "bob", auditor: carol.address })).toThrow(/invalid/);
    const missing = { owner: dave.address, auditor: carol.address };
    expect(() => chain.query(providerAuditorAttributes, missing)).toThrow(/address not found/);
  });
});

describe("genesis", () => {
  test("comes back as it was, signatures over providers that are gone included", () => {
    const chain = newChain();
    setOwn(chain, bob, { region: "eu" });
    sign(chain, bob.address, { tier: "home", region: "eu" });
    sign(chain, alice.address, { region: "eu" }, dave);
    chain.mustSend(create(MsgDeleteProviderSchema, { owner: alice.address }), { from: alice });
    const [before, after] = chain.exportTwice();
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
    expect(before).toMatchObject({ audit: { attributes: { length: 2 } } });
  });

  test("is put in its stored form", () => {
    const entry = {
      owner: bob.address,
      auditor: carol.address,
      attributes: attributes({ tier: "home", region: "eu" }),
      signed_at: "3",
      stale_keys: ["tier"],
    };
    const chain = testChain({ genesis: { audit: { attributes: [entry] } } });
    expect(chain.app.exportGenesis()).toMatchObject({
      audit: { attributes: [{ attributes: [{ key: "region" }, { key: "tier" }], signed_at: "3", stale_keys: [] }] },
    });
  });

  test("names every problem", () => {
    const { modules } = standardModules();
    const [owner, auditor] = [bob.address, carol.address];
    const good = { owner, auditor, attributes: attributes({ region: "eu" }) };
    const list = [
      good,
      { ...good, auditor: "carol" },
      { owner, auditor: dave.address },
      { owner: alice.address, auditor, attributes: attributes({ x: "" }) },
      good,
    ];
    expect(genesisProblems(modules, { audit: { attributes: list } })).toEqual([
      'audit: attributes[1]: auditor "carol" is not an account address: invalid address',
      "audit: attributes[2]: no attribute to sign: attribute specification error",
      'audit: attributes[3]: invalid attribute key "x": it is too short, a key has 2 to 127 characters: attribute specification error',
      `audit: attributes[4]: ${owner} audited by ${auditor} appears twice`,
    ]);
  });
});

test("records out of place or out of form are noticed", () => {
  const { keeper, module } = auditModule({ exists: () => true, attributes: () => [] });
  const ctx = emptyContext("audit");
  const base = { owner: bob.address, auditor: carol.address };
  const id = `the signature of ${carol.address} over ${bob.address}`;
  const set = (change: Init<typeof AuditedAttributesSchema>, key = [bob.address, carol.address]) => {
    const [owner = "", auditor = ""] = key;
    const value = create(AuditedAttributesSchema, { ...base, ...change });
    keeper.records.set(ctx.store("audit"), [decodeAddress(owner), decodeAddress(auditor)], value);
  };
  set({ attributes: attributes({ region: "eu", tier: "x" }) });
  expect(brokenInvariants([module], ctx)).toEqual([]);
  for (const broken of [
    { attributes: [] },
    { attributes: attributes({ tier: "x", region: "eu" }) },
    { attributes: [...attributes({ region: "eu" }), ...attributes({ region: "us" })] },
    { attributes: attributes({ region: "eu" }), staleKeys: ["region"] },
  ]) {
    set(broken);
    expect(brokenInvariants([module], ctx)).toEqual([`audit/records: ${id} is not in its stored form`]);
  }
  set({ attributes: attributes({ region: "eu" }) });
  set({ attributes: attributes({ region: "eu" }) }, [bob.address, dave.address]);
  expect(brokenInvariants([module], ctx)).toEqual([
    `audit/records: ${id} is stored under ${bob.address} and ${dave.address}`,
  ]);
});
