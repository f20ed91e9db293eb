import type { Dec } from "../../util/index.ts";
import type { OrderKey } from "../../wire/index.ts";
import { type Obstacle, REASONS, type Reason } from "../reasons.ts";

/**
 * Life of an order at this provider: checking -> refused, or bidding -> open -> won | lost | closed. A refused order is
 * checked again when its obstacle may be gone, and an order whose bid was withdrawn after a pause. A bid being
 * withdrawn may still win: its reservation stays until the chain has told the outcome.
 */
export const ORDER_PHASES = ["checking", "refused", "bidding", "open", "withdrawing", "won", "lost", "closed"] as const;
export type OrderPhase = (typeof ORDER_PHASES)[number];

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
  /** The obstacle to a bid; only of refused orders. */
  readonly obstacle?: Obstacle;
  /** Milliseconds since 1970 at which the provider learned of it. */
  readonly detectedAt: number;
}

/** Thrown inside the machine: the order is refused for a known reason. */
export class Refusal extends Error {
  readonly reason: Reason;
  /** For tenants and strangers; `message` is for the operator. */
  readonly told: string;

  /** `text` has the particulars of the order, in words that tenants may read too. */
  constructor(reason: Reason, text?: string) {
    super(text ?? REASONS[reason].operator);
    this.name = "Refusal";
    this.reason = reason;
    this.told = text ?? REASONS[reason].tenant;
  }

  /** A refusal whose cause only the operator reads. */
  static hidden(reason: Reason, text: string): Refusal {
    return new HiddenRefusal(reason, text);
  }

  get obstacle(): Obstacle {
    return REASONS[this.reason].obstacle;
  }
}

class HiddenRefusal extends Refusal {
  override readonly told: string;

  constructor(reason: Reason, text: string) {
    super(reason, text);
    this.told = REASONS[reason].tenant;
  }
}
