import { GivenUp } from "../../../runtime/index.ts";
import type { Database, Entry, KVReader, Range } from "../../../store/index.ts";
import type { WorkLimits } from "../limits.ts";

type Tables = Pick<Database, "table">;

/** Reads between two looks at the clock. */
const READS_A_LOOK = 16;

/** Limits of one request on a thread: its own work time, and bytes read. Beyond either, throws `GivenUp`. */
export class Budget {
  readonly #limits: WorkLimits;
  readonly #now: () => number;
  #bytes = 0;
  #reads = 0;
  #usedMs = 0;
  #since: number | undefined;

  constructor(limits: WorkLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Milliseconds that the work took. */
  get usedMs(): number {
    return this.#usedMs + (this.#since === undefined ? 0 : this.#now() - this.#since);
  }

  /** Runs synchronous work; waiting between two such runs costs nothing. */
  run<T>(work: () => T): T {
    if (this.#since !== undefined) return work();
    this.#since = this.#now();
    try {
      return work();
    } finally {
      this.#usedMs = this.usedMs;
      this.#since = undefined;
    }
  }

  /** Counts bytes read. */
  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytes) throw new GivenUp(`it reads more than ${this.#limits.bytes} bytes`);
    this.#reads += 1;
    if (this.#reads % READS_A_LOOK === 0) this.checkTime();
  }

  checkTime(): void {
    const { ms } = this.#limits;
    if (this.usedMs > ms) throw new GivenUp(`it takes more than ${ms} ms`);
  }
}

/** Tables whose reads are counted. */
export function tablesWithin(tables: Tables, budget: Budget): Tables {
  return { table: (name) => new CountedReader(tables.table(name), budget) };
}

class CountedReader implements KVReader {
  readonly #reader: KVReader;
  readonly #budget: Budget;

  constructor(reader: KVReader, budget: Budget) {
    this.#reader = reader;
    this.#budget = budget;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const value = this.#reader.get(key);
    this.#budget.take(key.length + (value?.length ?? 0));
    return value;
  }

  has(key: Uint8Array): boolean {
    return this.get(key) !== undefined;
  }

  *iterate(range?: Range): IterableIterator<Entry> {
    for (const entry of this.#reader.iterate(range)) {
      this.#budget.take(entry[0].length + entry[1].length);
      yield entry;
    }
  }
}
