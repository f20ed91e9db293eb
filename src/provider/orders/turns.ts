/** What the place of a waiting order depends on. */
export interface Waiting {
  /** Open bids of its owner, and bids that the owner let go by. */
  readonly chances: number;
  readonly size: number;
  /** Milliseconds since 1970 at which the provider learned of the order. */
  readonly detectedAt: number;
}

type Comparison = (a: Waiting, b: Waiting) => number;

const newest: Comparison = (a, b) => b.detectedAt - a.detectedAt;
const smallest: Comparison = (a, b) => a.size - b.size;
const oldest: Comparison = (a, b) => a.detectedAt - b.detectedAt;
const TURNS = [newest, smallest, oldest] as const;

/**
 * Orders that wait for room: first those of owners with the fewest chances. Of equals the newest, the smallest and the oldest come in
 * turn: accounts cost nothing, so one rule alone would let many of them stay in front of somebody else for as long as they like.
 */
export class Turns {
  #next = 0;

  /** An owner had its turn. */
  taken(): void {
    this.#next = (this.#next + 1) % TURNS.length;
  }

  sort<T extends Waiting>(rows: readonly T[]): T[] {
    const groups = new Map<number, T[]>();
    for (const row of rows) {
      const group = groups.get(row.chances) ?? [];
      group.push(row);
      groups.set(row.chances, group);
    }
    return [...groups].sort(([a], [b]) => a - b).flatMap(([, equals]) => this.#alternate(equals));
  }

  #alternate<T extends Waiting>(rows: readonly T[]): T[] {
    const lines = TURNS.map((comparison) => rows.toSorted(comparison).values());
    const placed = new Set<T>();
    for (let turn = this.#next; placed.size < rows.length; turn++) {
      const line = lines[turn % lines.length];
      let first = line?.next();
      while (first?.done === false && placed.has(first.value)) first = line?.next();
      if (first?.done === false) placed.add(first.value);
    }
    return [...placed];
  }
}
