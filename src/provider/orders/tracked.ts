import { type Dec, Recent } from "../../util/index.ts";
import type { OrderKey } from "../../wire/index.ts";
import type { RowNeed } from "../inventory/index.ts";
import { OBSTACLES, type Obstacle, type Reason } from "../reasons.ts";
import type { OrderEntry, OrderPhase, OrderStatus } from "./order.ts";

/** Outcome of a bid, by the reason for its end. */
export const OUTCOMES = {
  "lease lost": "lease-lost",
  "bid lost": "lease-lost",
  "order closed": "order-closed",
  "bid closed": "bid-closed-external",
  "bid timeout": "bid-timeout",
  "bid withdrawn": "bid-withdrawn",
  "bid withdrawn: others waited for its room": "bid-withdrawn",
} as const;
export type Ending = keyof typeof OUTCOMES;

/** Ends of a bid after which its order gets another one, with the reason that tenants read meanwhile. */
export const BIDS_AGAIN: Partial<Record<Ending, string>> = {
  "bid timeout": "nobody accepted its last bid in time",
  "bid withdrawn": "it withdrew its last bid",
  "bid withdrawn: others waited for its room": "its last bid made room for other orders",
};

/** Maximum bids on one order, each of which costs the provider two fees. */
export const MAX_BIDS = 16;
/** Orders whose bids are counted; the ones whose bids ended least recently are dropped first. */
const COUNTED = 5_000;

/** Where an order stands between two bids. */
interface Pause {
  /** Bids on the order that ended without a lease. */
  readonly bids: number;
  /** When the order may have the next bid, in milliseconds since 1970; Infinity after the last. */
  readonly until: number;
  /** Why the last bid ended. */
  readonly reason: string;
}

/** Pauses between bids on one order. Each is twice as long as the one before, so the fees for an order are bounded. */
export class Pauses {
  readonly #pauses = new Recent<string, Pause>(COUNTED);

  /** A bid has ended without a lease; `firstMs` is the length of the first pause. */
  begin(order: string, { now, firstMs, reason }: { now: number; firstMs: number; reason: string }): void {
    const bids = (this.#pauses.get(order)?.bids ?? 0) + 1;
    const until = bids < MAX_BIDS ? now + firstMs * 2 ** (bids - 1) : Number.POSITIVE_INFINITY;
    this.#pauses.set(order, { bids, until, reason });
  }

  find(order: string): Pause | undefined {
    return this.#pauses.get(order);
  }
}

/** An order as the service of orders keeps it. */
export interface Tracked {
  readonly id: OrderKey;
  readonly text: string;
  readonly detectedAt: number;
  phase: OrderPhase;
  /** For the operator. */
  reason?: string;
  /** Why it was refused, for tenants and strangers. */
  told?: string;
  /** The row of the table of reasons. */
  code?: Reason;
  obstacle?: Obstacle;
  price?: Dec;
  timer?: NodeJS.Timeout;
  /** When a refused order is checked again, in milliseconds since 1970. */
  againAt?: number;
  /** Why its bid is being withdrawn. */
  ending?: Ending;
  /** Number of checks that ended in a temporary refusal. */
  looks: number;
  /** Its requirements, once checked. */
  rows?: readonly RowNeed[];
  /** Number of other bids' deposits that must return before a bid can be paid; Infinity if no number is enough. */
  depositsMissing?: number;
  /** The price that it would get, as it was when others' bids first stood in its way. */
  quote?: Dec;
  /** Since when its bid waits for the tenant, in milliseconds since 1970. */
  openSince: number;
}

/** The bid stays one that won; operators would otherwise read that its lease still runs. */
export function noteLeaseEnd(tracked: Tracked | undefined): void {
  if (tracked?.phase === "won") tracked.reason = "its lease has ended";
}

/** For the operator, with the obstacle. */
export function entryOf(tracked: Tracked): OrderEntry {
  const { phase, obstacle, detectedAt, reason } = tracked;
  return {
    ...statusOf(tracked),
    detectedAt,
    ...(reason === undefined ? {} : { reason }),
    ...(phase === "refused" && obstacle !== undefined ? { obstacle } : {}),
  };
}

/** The public view of an order. */
export function statusOf({ id, phase, price, obstacle, code, againAt, ...texts }: Tracked): OrderStatus {
  const reason = phase === "refused" ? (texts.told ?? texts.reason) : texts.reason;
  return {
    id,
    phase,
    ...(reason === undefined ? {} : { reason }),
    ...(phase === "refused" && code !== undefined ? { code } : {}),
    ...(phase === "refused" && obstacle !== undefined && OBSTACLES[obstacle].lasts ? { final: true as const } : {}),
    ...(phase === "refused" && againAt !== undefined ? { againAt } : {}),
    ...(price === undefined ? {} : { price }),
  };
}
