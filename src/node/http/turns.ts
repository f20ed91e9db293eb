/** Time in which calls begin one after the other before other work of the process has its turn. */
const SLICE_MS = 5;

const NOW = Promise.resolve();

/**
 * Calls begin in the order in which they came, those of one connection one by one with those of others: a connection with a
 * hundred calls keeps nobody else waiting for all of them. After some milliseconds, other work has its turn: blocks, new
 * connections, health checks.
 */
export class Turns {
  /** What waits, by connection, in the order of their next turns. */
  readonly #lines = new Map<object, (() => void)[]>();
  readonly #now: () => number;
  #isGiving = false;
  /** The end of the last slice. */
  #end = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Resolves when it is the caller's turn; `line` stands for its connection where that may have several calls at once. A
   * single call begins at once while nobody waits and the slice is not over: to wait for its turn would cost it more than a
   * tenth of its time.
   */
  next(line?: object): Promise<void> {
    if (line === undefined && !this.#isGiving && this.#now() < this.#end) return NOW;
    return this.#wait(line ?? {});
  }

  #wait(line: object): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#lines.get(line);
      if (waiting === undefined) this.#lines.set(line, [resolve]);
      else waiting.push(resolve);
      if (this.#isGiving) return;
      this.#isGiving = true;
      setImmediate(() => void this.#give());
    });
  }

  /** Never rejects: giving a turn throws nothing. */
  async #give(): Promise<void> {
    this.#end = this.#now() + SLICE_MS;
    for (const begin of this.#taken()) {
      begin();
      // The caller continues before this function does.
      await undefined;
      if (this.#now() >= this.#end) break;
    }
    this.#isGiving = this.#lines.size > 0;
    // An immediate that is set within another runs after the next poll of the network.
    if (this.#isGiving) setImmediate(() => void this.#give());
  }

  /** The first of the line whose turn it is; the rest of that line goes behind all others. */
  *#taken(): Generator<() => void> {
    for (const [line, waiting] of this.#lines) {
      const begin = waiting.shift();
      this.#lines.delete(line);
      if (waiting.length > 0) this.#lines.set(line, waiting);
      if (begin !== undefined) yield begin;
    }
  }
}
