/** What the place of a waiting order depends on. */
export interface Waiting {
  /** Open bids of its owner, and bids that the owner let go by. */
  readonly chances: number;
  readonly size: number;
  /** Milliseconds since 1970 at which the provider learned of the order. */
  readonly detectedAt: number;
}

type Comparison = (a: Waiting, b: Waiting) => number;

const oldest: Comparison = (a, b) => a.detectedAt - b.detectedAt;
const newest: Comparison = (a, b) => b.detectedAt - a.detectedAt;
const smallest: Comparison = (a, b) => a.size - b.size;
/** Those with the fewest chances, of equals in the order given. */
const fewest = (equals: Comparison): Comparison => {
  return (a, b) => a.chances - b.chances || equals(a, b);
};
const FEW = { newest: fewest(newest), smallest: fewest(smallest), oldest: fewest(oldest) } as const;
const FAIR = [FEW.newest, FEW.smallest, FEW.oldest] as const;
const TURNS = [...FAIR, ...FAIR, FEW.newest, FEW.smallest, oldest] as const;

/**
 * Orders that wait for room: first those of owners with the fewest chances, of equals the newest, the smallest and the oldest in turn,
 * and one time in nine the one that waits longest, whatever its owner did. Accounts cost nothing, so one rule alone would let many of them stay in front of
 * somebody else for as long as they like: new ones, where chances alone counted, of whoever ever cancelled an order.
 */
export class Turns {
  #next = 0;

  /** An owner had its turn. */
  taken(): void {
    this.#next = (this.#next + 1) % TURNS.length;
  }

  sort<T extends Waiting>(rows: readonly T[]): T[] {
    const lines = new Map([...FAIR, oldest].map((comparison) => [comparison, rows.toSorted(comparison).values()]));
    const placed = new Set<T>();
    for (let turn = this.#next; placed.size < rows.length; turn++) {
      const line = lines.get(TURNS[turn % TURNS.length] ?? oldest);
      let first = line?.next();
      while (first?.done === false && placed.has(first.value)) first = line?.next();
      if (first?.done === false) placed.add(first.value);
    }
    return [...placed];
  }
}
