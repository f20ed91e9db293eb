import type { KVReader, KVStore } from "../kv.ts";
import { CacheStore } from "./cache.ts";

/** Named stores that can be read: `bank`, `auth`, ... */
export interface MultiReader {
  /** Throws on a name that does not exist (a programming error). */
  store(name: string): KVReader;
}

/** Named stores that can be written. */
export interface MultiStore extends MultiReader {
  store(name: string): KVStore;
  /** Changes over this one, to be kept or dropped as a whole. */
  branch(): MultiBranch;
}

export interface MultiBranch extends MultiStore {
  /** Hands the changes of all stores to the parent and starts empty. */
  flush(): void;
  discard(): void;
}

/** Writable named stores over readable ones; each store's overlay is made when it is first asked for. */
export class CacheMultiStore implements MultiBranch {
  readonly #parent: MultiReader;
  readonly #stores = new Map<string, CacheStore>();

  constructor(parent: MultiReader) {
    this.#parent = parent;
  }

  store(name: string): CacheStore {
    const known = this.#stores.get(name);
    if (known !== undefined) return known;
    const made = new CacheStore(this.#parent.store(name));
    this.#stores.set(name, made);
    return made;
  }

  branch(): CacheMultiStore {
    return new CacheMultiStore(this);
  }

  flush(): void {
    for (const store of this.#stores.values()) if (store.changeCount > 0) store.flush();
  }

  discard(): void {
    for (const store of this.#stores.values()) store.discard();
  }

  /** The stores that were touched, by name. */
  touched(): IterableIterator<[string, CacheStore]> {
    return this.#stores.entries();
  }
}
