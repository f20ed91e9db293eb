/** Time in which calls begin one after the other before other work of the process has its turn. */
const SLICE_MS = 5;

/**
 * Calls begin in the order in which they came. After some milliseconds of them, other work has its turn: blocks, new
 * connections, health checks.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isGiving = false;

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isGiving) return;
      this.#isGiving = true;
      setImmediate(() => void this.#give());
    });
  }

  /** Never rejects: giving a turn throws nothing. */
  async #give(): Promise<void> {
    const end = performance.now() + SLICE_MS;
    for (const begin of this.#taken()) {
      begin();
      // The caller continues before this function does.
      await undefined;
      if (performance.now() >= end) break;
    }
    this.#isGiving = this.#waiting.length > 0;
    // An immediate that is set within another runs after the next poll of the network.
    if (this.#isGiving) setImmediate(() => void this.#give());
  }

  *#taken(): Generator<() => void> {
    for (let begin = this.#waiting.shift(); begin !== undefined; begin = this.#waiting.shift()) yield begin;
  }
}
