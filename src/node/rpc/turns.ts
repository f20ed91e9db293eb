/**
 * Calls begin one at a time, in the order in which they came, and whatever else waits in the process has its turn between
 * two of them: blocks, new connections, whoever asks how the node is.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(() => this.#give());
    });
  }

  #give(): void {
    this.#waiting.shift()?.();
    // An immediate that is set in one runs after the next look at the network.
    if (this.#waiting.length > 0) setImmediate(() => this.#give());
  }
}
