/**
 * A cache of recent entries in two generations: when the newer one is full it becomes the older one, and the previous
 * older one is dropped. A `Map` that deletes its oldest entry for every new one would keep holes and walk over
 * thousands of them each time.
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
