import type { Dec } from "../../util/index.ts";
import type { OrderKey } from "../../wire/index.ts";
import type { RowNeed } from "../inventory/index.ts";
import type { Obstacle, OrderEntry, OrderPhase, OrderStatus } from "./order.ts";

/** What became of a bid, by the reason for which its order ended. */
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

/** Refusals that the tenant should not wait out. */
const LASTING: ReadonlySet<Obstacle> = new Set(["final", "size", "cluster"]);

/** An order as the service of orders keeps it. */
export interface Tracked {
  readonly id: OrderKey;
  readonly text: string;
  readonly detectedAt: number;
  phase: OrderPhase;
  reason?: string;
  obstacle?: Obstacle;
  price?: Dec;
  timer?: NodeJS.Timeout;
  /** Why its bid is being withdrawn. */
  ending?: Ending;
  /** Number of checks that ended in a temporary refusal. */
  looks: number;
  /** What it needs, once it was checked. */
  rows?: readonly RowNeed[];
  /** How many deposits of other bids have to come back before a bid can be paid; Infinity if no number of them is enough. */
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
  const { phase, obstacle, detectedAt } = tracked;
  return { ...statusOf(tracked), detectedAt, ...(phase === "refused" && obstacle !== undefined ? { obstacle } : {}) };
}

/** What anybody may read of it. */
export function statusOf({ id, phase, reason, price, obstacle }: Tracked): OrderStatus {
  return {
    id,
    phase,
    ...(reason === undefined ? {} : { reason }),
    ...(phase === "refused" && obstacle !== undefined && LASTING.has(obstacle) ? { final: true as const } : {}),
    ...(price === undefined ? {} : { price }),
  };
}
