import { groupsFault, type SdlLimits } from "../../sdl/index.ts";
import { formatDec } from "../../util/index.ts";
import type { HostData } from "../cluster/index.ts";
import type { GatewaySources, InventoryStatus } from "../gateway/index.ts";
import { groupNeeds, type Inventory, type ReservationState, totalOf } from "../inventory/index.ts";
import { highestPrice, type OrderPhase, type OrderService, type OrderStatus } from "../orders/index.ts";
import type { Outbox } from "../outbox/index.ts";
import type { PricingStrategy } from "../pricing/index.ts";
import { ORDER_REASONS, REASONS } from "../reasons.ts";

export interface SourceParts {
  readonly inventory: Pick<Inventory, "all" | "available" | "addresses" | "addressesLeft">;
  readonly orders: Pick<OrderService, "status" | "find" | "screen">;
  readonly outbox: Pick<Outbox, "depth">;
  readonly pricing: PricingStrategy;
  /** The chain's limits on deployments. */
  readonly limits: () => Promise<SdlLimits>;
  /** Data of the host that outsiders must not read: reasons for the operator name its folders and sockets. */
  readonly host: HostData;
}

/** Characters of a reason that strangers see: price scripts write parts of it. */
const MAX_REASON = 500;
/** Maximum length of a reason in the status. */
const MAX_SHOWN_REASON = 200;
const MOST_REASONS = 20;
const OTHERS = "other reasons";
const ENDED: ReadonlySet<OrderPhase> = new Set(["won", "lost", "closed", "refused"]);

/** The gateway's view of the rest of the provider. */
export function gatewaySources({ inventory, orders, outbox, pricing, limits, host }: SourceParts): GatewaySources {
  const reserved = (state: ReservationState) =>
    inventory
      .all()
      .filter((each) => each.state === state)
      .map((each) => totalOf(each.rows));
  const shown = (order: OrderStatus): OrderStatus =>
    order.reason === undefined ? order : { ...order, reason: host.hide(order.reason) };
  return {
    inventory: () => ({
      active: reserved("active"),
      pending: reserved("pending"),
      available: inventory.available(),
      ...leasedIps(inventory),
    }),
    orderCount: () => orders.status().filter(({ phase }) => !ENDED.has(phase)).length,
    refusals: () => countReasons(orders.status().map(shown)),
    order: (id) => {
      const order = orders.find(id);
      if (order === undefined) return undefined;
      return { ...shown(order), ...(order.code === undefined ? {} : { remedy: REASONS[order.code].advice }) };
    },
    outboxDepth: () => outbox.depth,
    screen: async (group) => {
      const { denom = "" } = group.resources[0]?.price ?? {};
      // The chain has checked the groups of orders; strangers may send a billion replicas.
      const fault = groupsFault([group], await limits(), denom);
      if (fault !== undefined) return { bid: false, reason: fault.text.slice(0, MAX_REASON) };
      const answer = await orders.screen(group);
      if (typeof answer === "string") return { bid: false, reason: host.hide(answer).slice(0, MAX_REASON) };
      return { bid: true, price: { denom: answer.denom, amount: formatDec(answer.amount) } };
    },
    price: async (group) => {
      const { denom, amount: maxPrice } = highestPrice(group);
      const wish = { owner: "", rows: groupNeeds(group), denom, maxPrice };
      const price = await pricing.price(wish).catch((cause: unknown) => {
        throw new Error(ORDER_REASONS.noPrice.tenant, { cause });
      });
      return { denom, amount: formatDec(price) };
    },
  };
}

/** A pool that has shrunk has none left, however many leases have. */
function leasedIps(inventory: Pick<Inventory, "addresses" | "addressesLeft">): Pick<InventoryStatus, "leasedIps"> {
  const total = inventory.addresses;
  return total === 0 ? {} : { leasedIps: { total, left: Math.max(inventory.addressesLeft(), 0) } };
}

/**
 * How many orders were refused, by reason; the most frequent ones. Tenants write parts of reasons, and would otherwise
 * decide how long the status is.
 */
export function countReasons(orders: readonly OrderStatus[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { phase, reason } of orders) {
    if (phase !== "refused" || reason === undefined) continue;
    const text = reason.slice(0, MAX_SHOWN_REASON);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const others = sorted.slice(MOST_REASONS).reduce((sum, [, count]) => sum + count, 0);
  return Object.fromEntries([...sorted.slice(0, MOST_REASONS), ...(others === 0 ? [] : [[OTHERS, others] as const])]);
}
