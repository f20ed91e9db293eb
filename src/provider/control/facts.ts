import * as v from "valibot";
import { formatDecShort } from "../../util/index.ts";
import { formatLeaseId } from "../../wire/index.ts";
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
});
export type ProviderFacts = v.InferOutput<typeof providerFacts>;

/** Parts of the provider that know the facts. */
export interface FactSources {
  readonly inventory: Pick<Inventory, "all" | "offered" | "available" | "portsLeft">;
  readonly leases: Pick<LeaseService, "records">;
  readonly pricing: Pick<PricingStrategy, "description" | "flags">;
}

export function factsOf(view: ControlView, { inventory, leases, pricing }: FactSources): ProviderFacts {
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
  };
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
