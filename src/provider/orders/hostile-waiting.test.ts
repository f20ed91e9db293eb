import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type IntCoin, parseDec, silentLogger, toUtf8 } from "../../util/index.ts";
import { Endpoint_Kind } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { type GroupSpec, GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { formatOrderId, type OrderKey } from "../../wire/index.ts";
import { groupNeeds, Inventory } from "../inventory/index.ts";
import { parseScales, scalePricing } from "../pricing/index.ts";
import { PLAIN_OFFER } from "../testing/deployment.ts";
import { OrderService } from "./service.ts";

/** Tenants whose waiting orders are to have the provider withdraw bids of others for nothing, or keep it from doing so. */

const val = (amount: bigint) => ({ val: toUtf8(amount.toString()) });
const PATIENCE = { alone: 60_000, least: 20_000 };
/** A fee in a coin of its own. */
const GAS: IntCoin = { denom: "ugas", amount: 10n };
const DEPOSIT: IntCoin = { denom: "utoken", amount: 5_000_000n };

interface Wish {
  readonly cpu?: bigint;
  readonly price?: string;
  readonly leasedIp?: boolean;
}

function groupOf({ cpu = 500n, price = "10", leasedIp = false }: Wish): GroupSpec {
  const endpoints = [{ kind: Endpoint_Kind.SHARED_HTTP }];
  const leased = leasedIp ? [{ kind: Endpoint_Kind.LEASED_IP, sequenceNumber: 1 }] : [];
  const resources = {
    id: 1,
    cpu: { units: val(cpu) },
    memory: { quantity: val(1n << 24n) },
    storage: [{ name: "default", quantity: val(1n << 20n) }],
    gpu: { units: val(0n) },
    endpoints: [...endpoints, ...leased],
  };
  const row = { resources, count: 1, price: { denom: "utoken", amount: parseDec(price).toString() } };
  return create(GroupSpecSchema, { name: "g", resources: [row] });
}

/** A provider with one core to spare, one leased address that is taken, and orders as tenants make them. */
class Market {
  readonly groups = new Map<string, GroupSpec>();
  readonly bids = new Set<string>();
  readonly withdrawn: string[] = [];
  /** Prices of the open bids of others on every order. */
  others: string[] = [];
  readonly balances: Record<string, bigint> = { utoken: 1_000_000_000n, ugas: 1_000n };
  readonly service: OrderService;

  constructor(fee: IntCoin = { denom: "utoken", amount: 1_000n }) {
    const ledger = { record: () => {}, durable: async () => {} };
    const inventory = new Inventory({ overcommit: { cpu: 0, memory: 0, storage: 0 }, portQuantity: 10, ledger });
    const storage = [{ classes: "all" as const, bytes: 1n << 30n }];
    const nodes = [{ name: "host", cpu: 1001n, memory: 1n << 30n, storage, gpus: [] }];
    inventory.observe({ nodes, storage: [], addresses: 1 });
    inventory.hold("lease", groupNeeds(groupOf({ cpu: 1n, leasedIp: true })), "active");
    this.service = new OrderService({
      provider: "svc1provider",
      chain: {
        openOrders: async () => [],
        order: async (id) => {
          const spec = this.groups.get(formatOrderId(id)) ?? groupOf({});
          return { id, spec, createdAt: 1n, expiresAt: 100n, state: "open" };
        },
        bid: async () => undefined,
        openBidPrices: async () => this.others.map(parseDec),
        marketParams: async () => ({ orderMaxBids: 20, bidMinDeposits: [] }),
        offer: async () => ({ ...PLAIN_OFFER, leasedIps: true, leastMemory: 6n << 20n }),
        balance: async (denom) => this.balances[denom] ?? 0n,
      },
      inventory,
      pricing: scalePricing(parseScales({ cpu: "0.01", memory: "0", storage: "0", endpoint: "0", ip: "0" })),
      send: async (_, label) => this.#take(label),
      log: silentLogger,
      deposit: DEPOSIT,
      fee,
      bidTimeoutMs: 100_000_000,
      retryMs: 5_000,
      patience: PATIENCE,
      onWon: () => {},
    });
  }

  /** A tenant makes an order; resolves when the provider has looked at it. */
  async order(owner: string, dseq: bigint, wish: Wish = {}): Promise<string> {
    const id: OrderKey = { owner, dseq, gseq: 1, oseq: 1 };
    const text = formatOrderId(id);
    this.groups.set(text, groupOf(wish));
    this.service.onEvent({ action: "order-created", id, attributes: new Map() });
    await vi.advanceTimersByTimeAsync(1_000);
    return text;
  }

  async #take(label: string): Promise<bigint> {
    const text = label.split(" ").at(-1) ?? "";
    const { utoken = 0n } = this.balances;
    if (label.startsWith("bid")) {
      this.bids.add(text);
      this.balances.utoken = utoken - DEPOSIT.amount;
    } else {
      this.bids.delete(text);
      this.withdrawn.push(text);
      this.balances.utoken = utoken + DEPOSIT.amount;
    }
    return 2n;
  }
}

let market: Market;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  market.service.stop();
  vi.useRealTimers();
});

const HOUR = 3_600_000;

/** Two bids of one honest tenant take the whole core. */
async function honestBids(): Promise<string[]> {
  const made = [await market.order("svc1honest", 1n), await market.order("svc1honest", 2n)];
  expect([...market.bids]).toEqual(made);
  return made;
}

test("no bid gives way to an order that pays less than the provider's price", async () => {
  market = new Market();
  const honest = await honestBids();
  await market.order("svc1cheap", 1n, { price: "0.1" });
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, [...market.bids]]).toEqual([[], honest]);
});

test("no bid gives way to an order that has cheaper bids of others in every place", async () => {
  market = new Market();
  const honest = await honestBids();
  market.others = Array.from({ length: 20 }, () => "0.1");
  const text = await market.order("svc1full", 1n);
  await vi.advanceTimersByTimeAsync(HOUR / 60);
  expect([market.withdrawn, [...market.bids]]).toEqual([[], honest]);
  market.others.pop();
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, market.bids.has(text)]).toEqual([honest.slice(0, 1), true]);
});

test.each([
  ["another coin is short", { ugas: 5n }],
  ["all deposits together are too few", { utoken: -30_000_000n }],
])("no bid gives way for its deposit where %s", async (_, balances: Record<string, bigint>) => {
  market = new Market(GAS);
  const honest = await honestBids();
  Object.assign(market.balances, balances);
  await market.order("svc1other", 1n, { cpu: 1n });
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, [...market.bids]]).toEqual([[], honest]);
});

test("as many bids give way as deposits are missing", async () => {
  market = new Market(GAS);
  const honest = await honestBids();
  market.balances.utoken = -DEPOSIT.amount;
  const text = await market.order("svc1other", 1n, { cpu: 1n });
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, market.bids.has(text)]).toEqual([honest, true]);
});

test("bids give way for their deposits as soon as those are all that is missing", async () => {
  market = new Market(GAS);
  const honest = await honestBids();
  Object.assign(market.balances, { utoken: 0n, ugas: 5n });
  const text = await market.order("svc1other", 1n, { cpu: 1n });
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(market.withdrawn).toEqual([]);
  market.balances.ugas = 1_000n;
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, market.bids.has(text)]).toEqual([honest.slice(0, 1), true]);
});

test("orders that nothing helps keep nobody else from the room of bids", async () => {
  market = new Market();
  const held = await honestBids();
  for (let dseq = 1n; dseq <= 40n; dseq++) await market.order("svc1waits", dseq, { cpu: 1n, leasedIp: true });
  const text = await market.order("svc1other", 1n);
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, market.bids.has(text)]).toEqual([held.slice(0, 1), true]);
});
