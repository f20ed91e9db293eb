/**
 * A bounded queue between a producer that cannot wait and one consumer. If the consumer is too slow, the queue is
 * emptied and `overflow` replaces the lost items.
 */
export class Queue<T> implements AsyncIterable<T> {
  readonly #limit: number;
  readonly #overflow: T;
  #items: T[] = [];
  #end: { readonly error?: unknown } | undefined;
  #waiting: (() => void) | undefined;

  constructor(limit: number, overflow: T) {
    this.#limit = limit;
    this.#overflow = overflow;
  }

  push(item: T): void {
    if (this.#end !== undefined) return;
    if (this.#items.length >= this.#limit) this.#items = [this.#overflow];
    else this.#items.push(item);
    this.#waiting?.();
  }

  /** Ends the iteration after the current items, with an error if one is given. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#waiting?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      const items = this.#items;
      this.#items = [];
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#end !== undefined) break;
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
      this.#waiting = undefined;
    }
    if (this.#end.error !== undefined) throw this.#end.error;
  }
}
