/** Items waiting for a slow reader before writers are held back. */
const CAPACITY = 1_000;

/** Passes items of several writers to one reader; writers wait while the reader is behind. */
export class LineQueue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  readonly #writers: (() => void)[] = [];
  #reader: (() => void) | undefined;
  #ended = false;

  async push(item: T): Promise<void> {
    while (this.#items.length >= CAPACITY && !this.#ended) {
      await new Promise<void>((resolve) => this.#writers.push(resolve));
    }
    if (this.#ended) return;
    this.#items.push(item);
    this.#reader?.();
  }

  /** What is queued is still delivered. */
  end(): void {
    this.#ended = true;
    this.#reader?.();
    for (const writer of this.#writers.splice(0)) writer();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    while (true) {
      const item = this.#items.shift();
      if (item !== undefined) {
        this.#writers.shift()?.();
        yield item;
      } else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#reader = resolve));
    }
  }
}
