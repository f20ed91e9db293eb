import type { Dec } from "../../util/index.ts";
import type { OrderKey } from "../../wire/index.ts";
import type { RowNeed } from "../inventory/index.ts";
import type { Obstacle, OrderPhase } from "./order.ts";

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
