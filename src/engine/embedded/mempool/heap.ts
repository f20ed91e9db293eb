/** A binary heap that finds its items again: adding, removing and a change of order take O(log n). */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #at = new Map<T, number>();
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  has(item: T): boolean {
    return this.#at.has(item);
  }

  add(item: T): void {
    if (this.#at.has(item)) return;
    this.#items.push(item);
    this.#up(item, this.#items.length - 1);
  }

  delete(item: T): void {
    const index = this.#at.get(item);
    if (index === undefined) return;
    this.#at.delete(item);
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#settle(last, index);
  }

  /** Removes the first item. */
  take(): T | undefined {
    const { first } = this;
    if (first !== undefined) this.delete(first);
    return first;
  }

  /** The order of an item has changed. */
  moved(item: T): void {
    const index = this.#at.get(item);
    if (index !== undefined) this.#settle(item, index);
  }

  /** The items in their order; k of them take O(k log k). The heap must not change meanwhile. */
  *inOrder(): Generator<T> {
    const next = new Heap<number>((a, b) => this.#isBefore(this.#item(a), this.#item(b)));
    if (this.size > 0) next.add(0);
    for (let index = next.take(); index !== undefined; index = next.take()) {
      yield this.#item(index);
      for (const child of [2 * index + 1, 2 * index + 2]) if (child < this.size) next.add(child);
    }
  }

  #item(index: number): T {
    return this.#items[index] as T;
  }

  #settle(item: T, index: number): void {
    const parent = index === 0 ? undefined : this.#item((index - 1) >> 1);
    if (parent !== undefined && this.#isBefore(item, parent)) this.#up(item, index);
    else this.#down(item, index);
  }

  #up(item: T, from: number): void {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#item(above);
      if (!this.#isBefore(item, parent)) break;
      this.#put(parent, index);
      index = above;
    }
    this.#put(item, index);
  }

  #down(item: T, from: number): void {
    let index = from;
    for (;;) {
      let below = 2 * index + 1;
      if (below >= this.size) break;
      if (below + 1 < this.size && this.#isBefore(this.#item(below + 1), this.#item(below))) below += 1;
      const child = this.#item(below);
      if (!this.#isBefore(child, item)) break;
      this.#put(child, index);
      index = below;
    }
    this.#put(item, index);
  }

  #put(item: T, index: number): void {
    this.#items[index] = item;
    this.#at.set(item, index);
  }
}
