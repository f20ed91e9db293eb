import { beforeEach, describe, expect, it } from "vitest";
import { orderOf, TestMarket } from "../../test/support/chain/index.ts";
import { testCertificate } from "../../test/support/provider/identities.ts";
import type { ChainQuery } from "../client/market/reader.ts";
import { type TestKey, testChain } from "../testing/index.ts";
import { DEC_ONE, SvcError } from "../util/index.ts";
import { type BidKey, encodeAddress, formatBidId } from "../wire/index.ts";
import { type ChainView, chainView } from "./chain.ts";

let market: TestMarket;
let view: ChainView;
let tenant: TestKey;
let provider: TestKey;

beforeEach(() => {
  const chain = testChain();
  market = new TestMarket(chain);
  [tenant, provider] = [chain.key("alice"), chain.key("bob")];
  market.register(provider);
  const client: ChainQuery = { call: async (method, request) => chain.query(method, request) };
  view = chainView(client);
});

function leased(dseq = 1n): BidKey {
  const order = orderOf(market.deploy(tenant, { dseq }));
  return market.leased(tenant, order, { provider, price: "0.5" });
}

describe("with a node that proves records", () => {
  it("leases, their money, deployments, certificates and keys are read with proof, and lists without", async () => {
    const id = leased();
    const [plain, proven] = [new Set<string>(), new Set<string>()];
    const over = (asked: Set<string>): ChainQuery => ({
      call: async (method, request) => {
        asked.add(method.localName);
        return market.chain.query(method, request);
      },
    });
    const both = chainView(over(plain), over(proven));
    await Promise.all([both.lease(id), both.payment(id), both.deployment(id), both.group({ ...id, gseq: 1 })]);
    await both.certificate(tenant.address, "1");
    await both.publicKey(tenant.address);
    await both.activeLeases({ provider: provider.address });
    await both.openOrders();
    expect([...proven].sort()).toEqual(["account", "certificates", "deployment", "group", "lease"]);
    expect([...plain].sort()).toEqual(["leases", "orders"]);
  });
});

describe("the chain as the provider sees it", () => {
  it("reads leases with price and end", async () => {
    const id = leased();
    expect(await view.lease(id)).toMatchObject({
      id,
      state: "active",
      price: { denom: "utoken", amount: DEC_ONE / 2n },
      closedOn: 0n,
    });
    expect((await view.activeLeases({ provider: provider.address })).map((lease) => formatBidId(lease.id))).toEqual([
      formatBidId(id),
    ]);
    expect(await view.activeLeases({ provider: provider.address, owner: tenant.address, dseq: 9n })).toEqual([]);
    expect(await view.payment(id)).toMatchObject({ rate: { amount: DEC_ONE / 2n } });
    market.closeLease(tenant, id, { provider });
    expect(await view.lease(id)).toMatchObject({
      state: "closed",
      closedOn: market.chain.height,
      closeReason: "owner",
    });
    expect(await view.activeLeases({ provider: provider.address })).toEqual([]);
  });

  it("reads deployments with version, groups and money", async () => {
    const id = leased();
    const deployment = await view.deployment(id);
    expect(deployment).toMatchObject({ state: "active", groups: [{ gseq: 1, state: "open", spec: { name: "web" } }] });
    expect(deployment?.version).toEqual(new Uint8Array(32).fill(1));
    expect(deployment?.escrow?.exhaustsAt).toBeGreaterThan(market.chain.height);
    expect((await view.group(id))?.spec.name).toBe("web");
    market.closeDeployment(tenant, id);
    expect(await view.deployment(id)).toMatchObject({ state: "closed", groups: [{ state: "closed" }] });
  });

  it("reads orders and bids", async () => {
    const order = orderOf(market.deploy(tenant, { dseq: 1n }));
    expect(await view.openOrders()).toEqual({ ids: [order], isWhole: true });
    const mine = { ...order, provider: provider.address };
    expect(await view.bid(mine)).toBeUndefined();
    market.bid(provider, order, "0.25");
    expect(await view.bid(mine)).toMatchObject({ state: "open", price: { amount: DEC_ONE / 4n } });
    expect((await view.openBids(provider.address)).map(({ id }) => formatBidId(id))).toEqual([formatBidId(mine)]);
    expect(await view.openBidPrices(order)).toEqual([DEC_ONE / 4n]);
    expect(await view.order(order)).toMatchObject({ state: "open" });
    market.closeDeployment(tenant, order);
    expect(await view.order(order)).toMatchObject({ state: "closed" });
    expect(await view.openOrders()).toEqual({ ids: [], isWhole: true });
    expect(await view.marketParams()).toMatchObject({ orderMaxBids: 20, bidMinDeposits: [{ amount: 5_000_000n }] });
  });

  it("reads accounts' keys and providers", async () => {
    expect(await view.publicKey(tenant.address)).toBeUndefined();
    market.deploy(tenant, { dseq: 1n });
    expect(await view.publicKey(tenant.address)).toMatchObject({ type: "secp256k1" });
    expect((await view.provider(provider.address))?.hostUri).toBe("https://provider.test:8443");
    expect(await view.auditedAttributes(provider.address)).toEqual([]);
  });

  it("has no record if the chain says so", async () => {
    const id = { owner: tenant.address, dseq: 9n, gseq: 1, oseq: 1, provider: provider.address };
    const stranger = market.chain.key("dave").address;
    const { serial } = await testCertificate({ address: stranger });
    const answers = [
      view.lease(id),
      view.deployment(id),
      view.group(id),
      view.payment(id),
      view.order(id),
      view.bid(id),
      view.certificate(stranger, serial),
      view.provider(stranger),
      view.publicKey(encodeAddress(new Uint8Array(20).fill(9))),
    ];
    expect(await Promise.all(answers)).toEqual(answers.map(() => undefined));
  });
});

describe("a chain that cannot be asked", () => {
  it("rejects every query, whatever went wrong", async () => {
    const id = { owner: tenant.address, dseq: 1n, gseq: 1, oseq: 1, provider: provider.address };
    for (const error of [
      new Error("connection refused"),
      new SvcError("sdk", 35, "internal"),
      new SvcError("market", 1, "x"),
    ]) {
      const broken = chainView({ call: () => Promise.reject(error) });
      await expect(broken.lease(id)).rejects.toBe(error);
      await expect(broken.activeLeases({ provider: provider.address })).rejects.toBe(error);
      await expect(broken.deployment(id)).rejects.toBe(error);
      await expect(broken.certificate(id.owner, "1")).rejects.toBe(error);
    }
  });

  it("is not believed when it speaks of an unknown state", async () => {
    const leaseId = { owner: tenant.address, dseq: 1n, gseq: 1, oseq: 1, provider: provider.address };
    const id = leased();
    const lease = { ...market.leaseOf(id), state: 9 };
    const odd = chainView({ call: async () => ({ lease }) as never });
    await expect(odd.lease(leaseId)).rejects.toThrow(/unknown lease state/);
  });

  it("is read page by page to the end, over empty pages too", async () => {
    const [one, two] = [leased(1n), leased(2n)].map((id) => ({ lease: market.leaseOf(id) }));
    const pages = [
      { leases: [one], pagination: { nextKey: Uint8Array.of(1), total: 0n } },
      { leases: [], pagination: { nextKey: Uint8Array.of(2), total: 0n } },
      { leases: [two], pagination: { nextKey: new Uint8Array(), total: 0n } },
    ];
    const paged = chainView({ call: async () => pages.shift() as never });
    const found = await paged.activeLeases({ provider: provider.address });
    expect(found.map(({ id }) => id.dseq)).toEqual([1n, 2n]);
  });
});
