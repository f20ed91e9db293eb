import type { Obstacle, OrderPhase } from "./order.ts";
import type { Tracked } from "./tracked.ts";

/** Refusals and ends that are remembered for those who ask. */
const MAX_REMEMBERED = 1000;
/** Orders that wait for room. */
const MAX_WAITING = 5000;
/** Where there are more, so many stay: not every order that comes is to sort all of them. */
const WAITING_STAY = 4000;
/** Orders that there was no place for are looked for when no more than these wait. */
export const WAITING_AGAIN = 2500;

export const ENDED: ReadonlySet<OrderPhase> = new Set(["won", "lost", "closed"]);
export const CAPACITY: ReadonlySet<Obstacle> = new Set(["capacity"]);
/** What no lease that ends takes away. */
const STAYS: ReadonlySet<Obstacle> = new Set(["final", "size"]);

interface Forgotten {
  readonly over: readonly Tracked[];
  readonly waiting: readonly Tracked[];
}

const NOTHING: Forgotten = { over: [], waiting: [] };

/**
 * Orders, the latest last, that are too many to keep in mind. One that is checked again is kept as long as there is a place for it:
 * its end would go unnoticed, and so would the room that it waits for. `inTurn` has those that wait for room.
 */
export function forgotten(orders: ReadonlyMap<string, Tracked>, inTurn: () => readonly Tracked[]): Forgotten {
  if (orders.size <= MAX_REMEMBERED) return NOTHING;
  const all = [...orders.values()].filter(isOver);
  const over = all.slice(0, Math.max(0, all.length - MAX_REMEMBERED));
  if (orders.size - over.length <= MAX_REMEMBERED + MAX_WAITING) return { over, waiting: [] };
  return { over, waiting: inTurn().slice(WAITING_STAY) };
}

function isOver({ phase, obstacle }: Tracked): boolean {
  return ENDED.has(phase) || (phase === "refused" && STAYS.has(obstacle ?? "moment"));
}
