import * as v from "valibot";
import { formatDecShort } from "../../util/index.ts";
import { formatLeaseId, formatOrderId } from "../../wire/index.ts";
import { type Inventory, type Quantities, totalOf } from "../inventory/index.ts";
import type { LeaseService } from "../leases/index.ts";
import type { OrderEntry } from "../orders/index.ts";
import { type PricingStrategy, priceChange } from "../pricing/index.ts";
import { OBSTACLES } from "../reasons.ts";
import { CONTROL_LIMITS, controlOrder, controlState } from "./protocol.ts";
import { type ControlView, shortened, stateOf } from "./server.ts";

/** Cpu in thousandths of a core, gpu in pieces, the others in bytes; integers as text. */
const amounts = v.object({ cpu: v.string(), memory: v.string(), storage: v.string(), gpu: v.string() });

const order = v.object({
  ...controlOrder.entries,
  /** Why the provider did not bid, of an order that others have filled or that was closed. */
  declined: v.exactOptional(v.string()),
  /** A change by which such orders would get a bid. */
  remedy: v.exactOptional(v.string()),
  /** Who got the lease, and the price per block; only of orders that ended while the provider ran. */
  winner: v.exactOptional(v.object({ provider: v.string(), price: v.string() })),
});

const finding = v.object({
  check: v.string(),
  /** `unknown`: a requirement of the check was not available. */
  state: v.picklist(["ok", "failed", "unknown"]),
  detail: v.string(),
  /** The remedy; only of failures. */
  fix: v.exactOptional(v.string()),
});

/** The finding of one check of the provider. */
export type Finding = Readonly<v.InferOutput<typeof finding>>;

/** Facts that the running provider knows by itself. */
export const providerFacts = v.object({
  ...controlState.entries,
  orders: v.array(order),
  /** The strategy, with its prices. */
  prices: v.string(),
  /** Prices as in the flags, where they can be changed. */
  price_flags: v.exactOptional(priceChange),
  /** Reserved room: for open bids (`pending`) and for leases (`active`). */
  reservations: v.array(v.object({ order: v.string(), state: v.picklist(["pending", "active"]), ...amounts.entries })),
  /** `left` may be negative on a node that has shrunk; `largest` is the largest replica that still fits. */
  nodes: v.array(v.object({ name: v.string(), offered: amounts, left: amounts, largest: amounts })),
  /** Ports of the host for further leases. */
  ports_left: v.number(),
  /** Leases with a record here. */
  lease_phases: v.array(v.object({ lease: v.string(), phase: v.string() })),
  /** Latest findings of the checks, and when they were made, RFC 3339; absent until the first are there. */
  checks: v.exactOptional(v.array(finding)),
  checked_at: v.exactOptional(v.string()),
});
export type ProviderFacts = v.InferOutput<typeof providerFacts>;

/** Parts of the provider that know the facts. */
export interface FactSources {
  readonly inventory: Pick<Inventory, "all" | "offered" | "available" | "portsLeft">;
  readonly leases: Pick<LeaseService, "records">;
  readonly pricing: Pick<PricingStrategy, "description" | "flags">;
  readonly examination?: Pick<Examination, "latest">;
}

/** Findings that are older are replaced at the next question. */
const EXAMINED_MS = 60_000;

/** Checks of the provider that are made only while somebody asks for them, one examination at a time. */
export class Examination {
  readonly #examine: () => Promise<readonly Finding[]>;
  readonly #now: () => number;
  #latest: Pick<ProviderFacts, "checks" | "checked_at"> = {};
  #begunAt = Number.NEGATIVE_INFINITY;
  #isOpen = false;

  constructor(examine: () => Promise<readonly Finding[]>, now: () => number = Date.now) {
    this.#examine = examine;
    this.#now = now;
  }

  /** The latest findings, at once; begins to make new ones where these are old. */
  latest(): Pick<ProviderFacts, "checks" | "checked_at"> {
    if (!this.#isOpen && this.#now() - this.#begunAt >= EXAMINED_MS) void this.#run();
    return this.#latest;
  }

  async #run(): Promise<void> {
    this.#isOpen = true;
    this.#begunAt = this.#now();
    try {
      const checks = await this.#examine();
      this.#latest = { checks: checks.map((each) => ({ ...each })), checked_at: new Date(this.#now()).toISOString() };
    } catch {
      // Checks that cannot be made leave no finding: an earlier one would be taken for a new one.
      this.#latest = {};
    } finally {
      this.#isOpen = false;
    }
  }
}

export function factsOf(view: ControlView, { inventory, leases, pricing, examination }: FactSources): ProviderFacts {
  const state = stateOf(view);
  const entries = view.orders.slice(-CONTROL_LIMITS.orders);
  const offered = new Map(inventory.offered().map((node) => [node.name, node]));
  return {
    ...state,
    orders: state.orders.map((each, i) => ({ ...each, ...outcomeOf(entries[i]) })),
    prices: pricing.description,
    ...(pricing.flags === undefined ? {} : { price_flags: { ...pricing.flags } }),
    reservations: inventory
      .all()
      .map((each) => ({ order: each.order, state: each.state, ...texts(totalOf(each.rows)) })),
    nodes: inventory.available().map((left) => ({
      name: left.name,
      offered: texts(offered.get(left.name) ?? left),
      left: texts(left),
      largest: texts(left, atLeastNone),
    })),
    ports_left: inventory.portsLeft(),
    lease_phases: leases.records().map(({ id, phase }) => ({ lease: formatLeaseId(id), phase })),
    ...examination?.latest(),
  };
}

const bid = v.object({
  order: v.string(),
  /** Price of our bid per block; absent where none was made. */
  before: v.exactOptional(v.string()),
  after: v.string(),
  /** Price of another provider that got the lease. */
  winner: v.exactOptional(v.string()),
});

/** Bids on orders under other prices. */
export const triedPrices = v.object({ bids: v.array(bid) });
export type TriedPrices = v.InferOutput<typeof triedPrices>;

/** Bids on the latest orders that a strategy would make; orders without a price are left out. Nothing is changed. */
export async function bidsUnder(
  strategy: Pick<PricingStrategy, "price">,
  orders: readonly OrderEntry[],
): Promise<TriedPrices> {
  const latest = orders.filter(({ rows }) => rows !== undefined).slice(-CONTROL_LIMITS.tried);
  const bids = latest.map(async ({ id, rows = [], price, winner }) => {
    // Prices that can be changed depend on the rows alone.
    const after = await strategy.price({ owner: id.owner, rows, denom: "", maxPrice: 0n }).catch(() => undefined);
    if (after === undefined) return [];
    const before = price === undefined ? {} : { before: formatDecShort(price) };
    const other = winner === undefined ? {} : { winner: formatDecShort(winner.price) };
    return [{ order: formatOrderId(id), ...before, after: formatDecShort(after), ...other }];
  });
  return { bids: (await Promise.all(bids)).flat().reverse() };
}

function outcomeOf({ declined, obstacle, winner }: Partial<OrderEntry> = {}) {
  return {
    ...(declined === undefined ? {} : { declined: shortened(declined) }),
    ...(obstacle === undefined ? {} : { remedy: OBSTACLES[obstacle].remedy }),
    ...(winner === undefined ? {} : { winner: { provider: winner.provider, price: formatDecShort(winner.price) } }),
  };
}

function texts({ cpu, memory, storage, gpu }: Quantities, of = (amount: bigint) => amount) {
  return { cpu: `${of(cpu)}`, memory: `${of(memory)}`, storage: `${of(storage)}`, gpu: `${of(gpu)}` };
}

function atLeastNone(amount: bigint): bigint {
  return amount < 0n ? 0n : amount;
}
