/** Items waiting for a slow reader before writers are held back. */
const CAPACITY = 1_000;
/** Weight of the items at which writers are held back. */
const MOST_WEIGHT = 1 << 20;

/** Passes items of several writers to one reader; writers wait while the reader is behind. */
export class LineQueue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  readonly #writers: (() => void)[] = [];
  readonly #weigh: (item: T) => number;
  #weight = 0;
  #reader: (() => void) | undefined;
  #ended = false;

  /** `weigh`: bytes or characters of an item. */
  constructor(weigh: (item: T) => number = () => 0) {
    this.#weigh = weigh;
  }

  async push(item: T): Promise<void> {
    while (this.#isFull && !this.#ended) {
      await new Promise<void>((resolve) => this.#writers.push(resolve));
    }
    if (this.#ended) return;
    this.#items.push(item);
    this.#weight += this.#weigh(item);
    this.#reader?.();
  }

  get #isFull(): boolean {
    return this.#items.length >= CAPACITY || this.#weight >= MOST_WEIGHT;
  }

  /** Queued items are still delivered. */
  end(): void {
    this.#ended = true;
    this.#reader?.();
    for (const writer of this.#writers.splice(0)) writer();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    while (true) {
      const item = this.#items.shift();
      if (item !== undefined) {
        this.#weight -= this.#weigh(item);
        this.#writers.shift()?.();
        yield item;
      } else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#reader = resolve));
    }
  }
}
