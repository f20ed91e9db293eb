import { obstaclesWith } from "../../reasons.ts";
import type { OrderPhase } from "../order.ts";
import type { Tracked } from "../tracked.ts";

/** Refusals and ends that are remembered for queries. */
const MAX_REMEMBERED = 1000;
/** Orders that wait for something: room, money, the cluster, or a moment. */
const MAX_WAITING = 5000;
/** Number kept of more than this, so that not every new order sorts all of them. */
const WAITING_STAY = 4000;
/** Orders that there was no place for are looked for when no more than these wait. */
export const WAITING_AGAIN = 2500;
/** New orders between two counts: a crowd must not cost a count for each. */
const COUNT_EVERY = 500;

export const ENDED: ReadonlySet<OrderPhase> = new Set(["won", "lost", "closed"]);
/** Obstacles whose orders are checked again. */
export const AWAITED = obstaclesWith(({ lasts }) => !lasts);
/** Obstacles that no ending lease removes. */
const STAYS = obstaclesWith(({ lasts }) => lasts);

interface Forgotten {
  readonly over: readonly Tracked[];
  readonly waiting: readonly Tracked[];
}

const NOTHING: Forgotten = { over: [], waiting: [] };

/** Which orders are too many to keep in mind. */
export class OrderMemory {
  readonly #orders: ReadonlyMap<string, Tracked>;
  #countAt = MAX_REMEMBERED;

  constructor(orders: ReadonlyMap<string, Tracked>) {
    this.#orders = orders;
  }

  /**
   * Orders that go, when another has come. One that is checked again is kept as long as there is a place for it: its end
   * would go unnoticed, and so would what it waits for. `inTurn` has those that wait.
   */
  forget(inTurn: () => readonly Tracked[]): Forgotten {
    if (this.#orders.size <= this.#countAt) return NOTHING;
    const all = [...this.#orders.values()].filter(isOver);
    const over = all.slice(0, Math.max(0, all.length - MAX_REMEMBERED));
    const left = this.#orders.size - over.length;
    const waiting = left <= MAX_REMEMBERED + MAX_WAITING - COUNT_EVERY ? [] : inTurn().slice(WAITING_STAY);
    this.#countAt = left - waiting.length + COUNT_EVERY;
    return { over, waiting };
  }
}

function isOver({ phase, obstacle }: Tracked): boolean {
  return ENDED.has(phase) || (phase === "refused" && STAYS.has(obstacle ?? "moment"));
}
