import type { Dec } from "../../util/index.ts";
import type { OrderKey } from "../../wire/index.ts";
import type { RowNeed } from "../inventory/index.ts";
import { OBSTACLES, type Obstacle, obstaclesWith, REASONS, type Reason } from "../reasons.ts";

/**
 * Life of an order at this provider: checking -> refused, or bidding -> open -> won | lost | closed. A refused order is
 * checked again when its obstacle may be gone, and an order whose bid was withdrawn after a pause. A bid that is
 * withdrawing may still win: its reservation stays until the chain has said what came of it.
 */
export const ORDER_PHASES = ["checking", "refused", "bidding", "open", "withdrawing", "won", "lost", "closed"] as const;
export type OrderPhase = (typeof ORDER_PHASES)[number];

/** Nothing more happens to the order here. */
export const ENDED: ReadonlySet<OrderPhase> = new Set(["won", "lost", "closed"]);
/** Obstacles that pass. */
const PASSING = obstaclesWith(({ lasts }) => !lasts);

/**
 * Ends of a bid or of its order, with the name that metrics have for it. After those with `again` the order gets another
 * bid; tenants read that sentence meanwhile.
 */
export const ENDINGS = {
  "lease lost": { outcome: "lease-lost" },
  "bid lost": { outcome: "lease-lost" },
  "order closed": { outcome: "order-closed" },
  "bid closed": { outcome: "bid-closed-external" },
  "bid timeout": { outcome: "bid-timeout", again: "nobody accepted its last bid in time" },
  "bid withdrawn": { outcome: "bid-withdrawn", again: "it withdrew its last bid" },
  outbid: { outcome: "lease-lost", again: "a cheaper bid took the place of ours on a full order" },
} as const;
export type Ending = keyof typeof ENDINGS;

export interface OrderStatus {
  readonly id: OrderKey;
  readonly phase: OrderPhase;
  /** Why it was refused, lost or closed, or that the lease that it won has ended. */
  readonly reason?: string;
  /** The row of the table of reasons; only of refused orders. */
  readonly code?: Reason;
  /** No bid will follow a refusal, as far as the provider knows. */
  readonly final?: true;
  /** When a refused order is checked again, in milliseconds since 1970. */
  readonly againAt?: number;
  /** Price of our bid, per block. */
  readonly price?: Dec;
}

/** An order in the operator's list. */
export interface OrderEntry extends OrderStatus {
  /** The change that a bid needs; only for refused orders. */
  readonly obstacle?: Obstacle;
  /** Milliseconds since 1970 at which the provider learned of it. */
  readonly detectedAt: number;
  /** Why it was refused, of an order that ended without our bid. */
  readonly declined?: string;
  /** Who got the lease in our place. */
  readonly winner?: Winner;
  /** Its needs, once it was checked. */
  readonly rows?: readonly RowNeed[];
}

/** Another provider that got the lease of an order. */
export interface Winner {
  readonly provider: string;
  /** Price per block. */
  readonly price: Dec;
}

/** An order as the provider keeps it. */
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
  /** Time of the next check, of the end of its bid, or of the next question about it, in milliseconds since 1970. */
  dueAt?: number;
  /** Why its bid is being withdrawn. */
  ending?: Ending;
  /** Number of checks that ended in a temporary refusal. */
  checks: number;
  declined?: string;
  winner?: Winner;
  /** Its needs, once it was checked. */
  rows?: readonly RowNeed[];
}

/** Whether it is refused, and may get a bid when something has changed. */
export function isWaiting({ phase, obstacle }: Tracked): boolean {
  return phase === "refused" && obstacle !== undefined && PASSING.has(obstacle);
}

/** Whether it is remembered only for those who ask. */
export function isOver({ phase, obstacle }: Tracked): boolean {
  return ENDED.has(phase) || (phase === "refused" && obstacle !== undefined && !PASSING.has(obstacle));
}

/** For the operator, with the obstacle. */
export function entryOf(tracked: Tracked): OrderEntry {
  const { phase, obstacle, detectedAt, reason, declined, winner, rows } = tracked;
  return {
    ...statusOf(tracked),
    detectedAt,
    ...(reason === undefined ? {} : { reason }),
    ...(phase === "refused" && obstacle !== undefined ? { obstacle } : {}),
    ...(declined === undefined ? {} : { declined }),
    ...(winner === undefined ? {} : { winner }),
    ...(rows === undefined ? {} : { rows }),
  };
}

/** For anybody. */
export function statusOf({ id, phase, price, obstacle, code, dueAt, ...texts }: Tracked): OrderStatus {
  const reason = phase === "refused" ? (texts.told ?? texts.reason) : texts.reason;
  return {
    id,
    phase,
    ...(reason === undefined ? {} : { reason }),
    ...(phase === "refused" && code !== undefined ? { code } : {}),
    ...(phase === "refused" && obstacle !== undefined && OBSTACLES[obstacle].lasts ? { final: true as const } : {}),
    ...(phase === "refused" && dueAt !== undefined ? { againAt: dueAt } : {}),
    ...(price === undefined ? {} : { price }),
  };
}

/** Thrown inside the pipeline: the order is refused for a known reason. */
export class Refusal extends Error {
  readonly reason: Reason;
  /** For tenants and strangers; `message` is for the operator. */
  readonly told: string;

  /** `text` has the particulars of the order, in words that tenants may read too unless `told` is given. */
  constructor(reason: Reason, text?: string, told = text ?? REASONS[reason].tenant) {
    super(text ?? REASONS[reason].operator);
    this.name = "Refusal";
    this.reason = reason;
    this.told = told;
  }

  /** A refusal whose cause only the operator reads. */
  static hidden(reason: Reason, text: string): Refusal {
    return new Refusal(reason, text, REASONS[reason].tenant);
  }

  get obstacle(): Obstacle {
    return REASONS[this.reason].obstacle;
  }
}

/** Writes the reason of a refusal into the order. */
export function describe(order: Tracked, { message, told, reason, obstacle }: Refusal): void {
  Object.assign(order, { reason: message, told, code: reason, obstacle });
}
