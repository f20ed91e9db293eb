/**
 * Remembers the entries used last, in two generations: when the newer one is full it becomes the older one, and the
 * entries not used since the last such change are dropped as a whole. A `Map` that removes its oldest entry for every
 * new one would keep holes in their places, and walk over thousands of them each time.
 */
export class Recent<K, V> {
  readonly #generation: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /** At most twice as many entries as a generation has are kept. */
  constructor(generation: number) {
    this.#generation = generation;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#generation) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
