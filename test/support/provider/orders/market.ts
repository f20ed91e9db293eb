import { create } from "@bufbuild/protobuf";
import type { OrderRecord } from "../../../../src/client/index.ts";
import { groupNeeds, Inventory } from "../../../../src/provider/inventory/index.ts";
import { OrderService } from "../../../../src/provider/orders/index.ts";
import { parseScales, scalePricing } from "../../../../src/provider/pricing/index.ts";
import { type IntCoin, parseDec, silentLogger, toUtf8 } from "../../../../src/util/index.ts";
import { Endpoint_Kind } from "../../../../src/wire/gen/svc/base/v1beta1/base_pb.js";
import { type GroupSpec, GroupSpecSchema } from "../../../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { formatOrderId, type OrderKey } from "../../../../src/wire/index.ts";
import { PLAIN_OFFER } from "../deployment.ts";

const val = (amount: bigint) => ({ val: toUtf8(amount.toString()) });
/** A fee in a separate coin. */
export const GAS: IntCoin = { denom: "ugas", amount: 10n };
export const DEPOSIT: IntCoin = { denom: "utoken", amount: 5_000_000n };

const PASS_MS = 500;

interface Wish {
  readonly cpu?: bigint;
  readonly price?: string;
  readonly leasedIp?: boolean;
}

/** Equal wishes share one group: a test may have very many wishes. */
const groups = new Map<string, GroupSpec>();

function groupOf(wish: Wish): GroupSpec {
  const key = [wish.cpu, wish.price, wish.leasedIp].join();
  const group = groups.get(key) ?? newGroup(wish);
  groups.set(key, group);
  return group;
}

function newGroup({ cpu = 500n, price = "10", leasedIp = false }: Wish): GroupSpec {
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

interface OrderMarketOptions {
  readonly fee?: IntCoin;
  /** Cores of the provider; one unless given. */
  readonly cores?: bigint;
  /** Leased addresses of the provider, the first of which is taken. */
  readonly addresses?: number;
  /** Percent of the half for open bids that one tenant may have; without limits on open bids unless given. */
  readonly bidShare?: number;
  readonly bidTimeoutMs?: number;
}

/** A provider with free cores, leased addresses, one of them taken, and orders in tenants' form; on a clock of its own. */
export class OrderMarket {
  readonly groups = new Map<string, GroupSpec>();
  readonly bids = new Set<string>();
  readonly withdrawn: string[] = [];
  /** Prices of other providers' open bids on every order. */
  others: string[] = [];
  readonly balances: Record<string, bigint> = { utoken: 1_000_000_000n, ugas: 1_000n };
  readonly service: OrderService;
  /** Orders that the chain was asked for, one by one. */
  looks = 0;
  /** Number of requests for the list. */
  lists = 0;
  /** Orders that it lists in one answer. */
  listedAtOnce = Number.POSITIVE_INFINITY;
  #listed = 0;
  #now = 0;

  constructor({
    fee = { denom: "utoken", amount: 1_000n },
    cores = 1n,
    addresses = 1,
    bidShare,
    bidTimeoutMs = 100_000_000,
  }: OrderMarketOptions = {}) {
    const ledger = { record: () => {}, durable: async () => {} };
    const inventory = new Inventory({
      overcommit: { cpu: 0, memory: 0, storage: 0 },
      portQuantity: 10,
      ledger,
      bidShare,
    });
    const storage = [{ classes: "all" as const, bytes: cores << 30n }];
    const nodes = [{ name: "host", cpu: 1_000n * cores + 1n, memory: cores << 30n, storage, gpus: [] }];
    inventory.observe({ nodes, storage: [], addresses });
    inventory.hold("lease", groupNeeds(groupOf({ cpu: 1n, leasedIp: true })), "active");
    this.service = new OrderService({
      provider: "svc1provider",
      chain: {
        openOrders: async () => {
          this.lists++;
          const keys = [...this.groups.keys()];
          const ids = keys.slice(this.#listed, this.#listed + this.listedAtOnce).map(keyOf);
          this.#listed += ids.length;
          const isWhole = this.#listed >= keys.length;
          if (isWhole) this.#listed = 0;
          return { ids, isWhole };
        },
        order: async (id) => {
          this.looks++;
          return this.#record(id);
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
      bidTimeoutMs,
      retryMs: 5_000,
      onWon: () => {},
      now: () => this.#now,
    });
  }

  /** A tenant makes an order; resolves when the provider has looked at it. */
  async order(owner: string, dseq: bigint, wish: Wish = {}): Promise<string> {
    const text = this.ask(owner, dseq, wish);
    await this.pass(0);
    return text;
  }

  /** Time passes, with the passes of the provider. */
  async pass(ms: number, everyMs = PASS_MS): Promise<void> {
    for (const end = this.#now + ms; ; ) {
      this.#now = Math.min(this.#now + everyMs, end);
      this.service.pass();
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#now === end) return;
    }
  }

  /** A tenant makes an order. */
  ask(owner: string, dseq: bigint, wish: Wish = {}): string {
    const text = this.list(owner, dseq, wish);
    const id = keyOf(text);
    this.service.onEvent({ action: "order-created", id, attributes: new Map() });
    return text;
  }

  /** Puts an order on the chain that the provider has not heard of yet. */
  list(owner: string, dseq: bigint, wish: Wish = {}): string {
    const text = formatOrderId({ owner, dseq, gseq: 1, oseq: 1 });
    this.groups.set(text, groupOf(wish));
    return text;
  }

  /** The tenant takes the bid, whose deposit returns. */
  lease(text: string): void {
    this.#close(text);
    const id = { ...keyOf(text), provider: "svc1provider" };
    this.service.onEvent({ action: "lease-created", id, attributes: new Map() });
  }

  /** The tenant ends the order. */
  cancel(text: string): void {
    const id = keyOf(text);
    this.groups.delete(text);
    this.#close(text);
    this.service.onEvent({ action: "order-closed", id, attributes: new Map() });
  }

  #close(text: string): void {
    if (this.bids.delete(text)) this.balances.utoken = (this.balances.utoken ?? 0n) + DEPOSIT.amount;
  }

  #record(id: OrderKey): OrderRecord {
    const spec = this.groups.get(formatOrderId(id)) ?? groupOf({});
    return { id, spec, createdAt: 1n, expiresAt: 100n, state: "open" };
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

function keyOf(text: string): OrderKey {
  const [owner = "", dseq = "0"] = text.split("/");
  return { owner, dseq: BigInt(dseq), gseq: 1, oseq: 1 };
}
