import type { RowNeed } from "../inventory/index.ts";

/** A bid that waits for its tenant. */
export interface WaitingBid {
  readonly owner: string;
  /** Milliseconds since 1970 at which the bid was open. */
  readonly since: number;
}

/** For how long a bid keeps its room although others want it, in milliseconds. */
export interface Patience {
  /** For the only bid of its owner; n bids of one owner have an n-th of it each, and so has each bid while n owners wait, */
  readonly alone: number;
  /** but no less than this. */
  readonly least: number;
}

/** Tenants need some blocks to take a bid. */
export const PATIENCE: Patience = { alone: 60_000, least: 20_000 };

/** When it is looked who gives way. */
interface Moment {
  readonly now: number;
  readonly patience: Patience;
  /** How many owners wait for what bids hold: where they are many, each bid has less time. */
  readonly owners: number;
}

/** How many waiting bids each owner has. */
export function bidsByOwner(bids: readonly Pick<WaitingBid, "owner">[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { owner } of bids) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return counts;
}

/**
 * The bids that may be withdrawn in favour of an order of the owner, those of the owner with the most bids first. Making
 * an order costs its owner the gas alone, while a bid holds capacity and a deposit: so nobody keeps others out by orders whose bids
 * are never taken. Only owners with more open bids give way. A bid that gave way is not made again, so this ends by itself.
 */
export function givingWay<T extends WaitingBid>(bids: readonly T[], owner: string, moment: Moment): T[] {
  const counts = bidsByOwner(bids);
  const countOf = (each: WaitingBid): number => counts.get(each.owner) ?? 0;
  const own = counts.get(owner) ?? 0;
  return bids
    .filter((each) => countOf(each) > own && moment.now - each.since >= keeps(countOf(each), moment))
    .sort((a, b) => countOf(b) - countOf(a) || a.since - b.since);
}

function keeps(bids: number, { owners, patience: { alone, least } }: Moment): number {
  return Math.max(alone / Math.max(bids, owners), least);
}

const MEBIBYTE = 1n << 20n;

/** How much rows take, in thousandths of a core and MiB of memory together: only to compare orders with one another. */
export function sizeOf(rows: readonly Pick<RowNeed, "cpu" | "memory" | "count">[]): number {
  return Number(rows.reduce((sum, { cpu, memory, count }) => sum + (cpu + memory / MEBIBYTE) * count, 0n));
}

/** The fewest of the first rows that are enough; undefined if all of them are not. More are never less. */
export function fewest<T>(rows: readonly T[], isEnough: (some: readonly T[]) => boolean): readonly T[] | undefined {
  if (rows.length === 0 || !isEnough(rows)) return undefined;
  let [low, high] = [1, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isEnough(rows.slice(0, middle))) high = middle;
    else low = middle + 1;
  }
  return rows.slice(0, high);
}
