import { type ErrorFactory, equalBytes, sdkErrors, toHex } from "../../util/index.ts";
import { decodeKey, encodeKey, type KeyCodec } from "../codec/keys.ts";
import type { ValueCodec } from "../codec/values.ts";
import { type KVReader, type KVStore, prefixRange } from "../kv.ts";
import { keyText } from "../layers/text.ts";
import { DecodedStore, storedValues } from "./decoded.ts";
import { Index, type IndexSpec } from "./indexes.ts";
import { type Page, type PageRequest, type PageRow, planPage, takePage } from "./pagination.ts";
import { pageRange, prefixed, type StoreRange, type TypedRange, typedRange } from "./ranges.ts";

/** Index declarations by name. */
export type IndexSpecs<V, K> = Readonly<Record<string, IndexSpec<V, K, unknown, unknown>>>;

/** The indexes made of declarations. */
export type Indexes<V, K, I> = {
  readonly [N in keyof I]: I[N] extends IndexSpec<never, never, infer IK, infer IP> ? Index<K, V, IK, IP> : never;
};

export interface CollectionSpec<K, P, V, I> {
  /** Name of one record in error texts: `balance`, `order`. */
  readonly name: string;
  /** First byte of the collection's keys in the module's store; unique in the module. */
  readonly prefix: number;
  readonly key: KeyCodec<K, P>;
  readonly value: ValueCodec<V>;
  readonly indexes?: I;
  /** The error of `require`; `sdk/38 not found` unless given. */
  readonly notFound?: ErrorFactory;
  /** A key in error texts; hex of the encoded key unless given. */
  readonly describe?: (key: K) => string;
}

/**
 * Declares typed records in a module's store. Made once, with the module; every call names the store it works on:
 * `balances.get(store, [owner, denom])`. Indexes follow every `set` and `delete` by themselves.
 */
export function collection<K, P, V, const I extends IndexSpecs<V, K> = Record<never, never>>(
  spec: CollectionSpec<K, P, V, I>,
): Collection<K, P, V, I> {
  return new Collection(spec);
}

export class Collection<K, P, V, I = Record<never, never>> {
  readonly name: string;
  readonly prefix: number;
  readonly key: KeyCodec<K, P>;
  /** The declared indexes: `orders.by.owner.iterate(store, { prefix: [owner] })`. */
  readonly by: Indexes<V, K, I>;
  readonly #value: ValueCodec<V>;
  readonly #spec: CollectionSpec<K, P, V, I>;
  readonly #indexes: readonly Index<K, V, unknown, unknown>[];

  constructor(spec: CollectionSpec<K, P, V, I>) {
    this.name = spec.name;
    this.prefix = spec.prefix;
    this.key = spec.key;
    this.#value = spec.value;
    this.#spec = spec;
    const specs: IndexSpecs<V, K> = spec.indexes ?? {};
    const made = Object.entries(specs).map(([name, each]) => [name, new Index(each, this)] as const);
    this.#indexes = made.map(([, each]) => each);
    // One Index of matching types was made per declaration of I.
    this.by = Object.fromEntries(made) as Indexes<V, K, I>;
  }

  /** All first bytes that the collection uses. */
  get prefixes(): readonly number[] {
    return [this.prefix, ...this.#indexes.map((each) => each.prefix)];
  }

  get(store: KVReader, key: K): V | undefined {
    const bytes = store.get(this.storeKey(key));
    return bytes === undefined ? undefined : decoded(store, this.#value, bytes);
  }

  /** The record, or the collection's not-found error. */
  require(store: KVReader, key: K): V {
    const value = this.get(store, key);
    if (value !== undefined) return value;
    const text = this.#spec.describe?.(key) ?? toHex(encodeKey(this.key, key));
    throw (this.#spec.notFound ?? sdkErrors.notFound)(`${this.name} ${text}`);
  }

  has(store: KVReader, key: K): boolean {
    return store.has(this.storeKey(key));
  }

  set(store: KVStore, key: K, value: V): void {
    if (this.#indexes.length > 0) this.#moveIndexes(store, key, value);
    store.set(this.storeKey(key), this.#value.encode(value));
  }

  /** Removes the record and its index entries; does nothing if it does not exist. */
  delete(store: KVStore, key: K): void {
    if (this.#indexes.length > 0) this.#moveIndexes(store, key, undefined);
    store.delete(this.storeKey(key));
  }

  /** Records in key order, as they were when the loop began; the store may be written meanwhile. */
  *iterate(store: KVReader, range: TypedRange<K, P> = {}): IterableIterator<[K, V]> {
    for (const [key, value] of store.iterate(typedRange(this.prefix, this.key, range)))
      yield [this.#decodeKey(key), decoded(store, this.#value, value)];
  }

  *keys(store: KVReader, range: TypedRange<K, P> = {}): IterableIterator<K> {
    for (const [key] of store.iterate(typedRange(this.prefix, this.key, range))) yield this.#decodeKey(key);
  }

  *values(store: KVReader, range: TypedRange<K, P> = {}): IterableIterator<V> {
    for (const value of storedValues(store, typedRange(this.prefix, this.key, range)))
      yield decoded(store, this.#value, value);
  }

  /** Number of records of a range, by walking it. */
  count(store: KVReader, range: TypedRange<K, P> = {}): number {
    let count = 0;
    for (const _ of storedValues(store, typedRange(this.prefix, this.key, range))) count += 1;
    return count;
  }

  /**
   * One page of records, within a prefix and through a filter if given. `sparse` is for filters that match few of many
   * records: its pages may be shorter than asked for.
   */
  paginate(
    store: KVReader,
    page: PageRequest | undefined,
    options: { readonly prefix?: P; readonly filter?: (value: V, key: K) => boolean; readonly sparse?: boolean } = {},
  ): Page<[K, V]> {
    const plan = planPage(page);
    const { range, skip } = pageRange(typedRange(this.prefix, this.key, options), plan, (key) =>
      decodeKey(this.key, key.subarray(1)),
    );
    return takePage(this.#rows(store, range, { skip, filter: options.filter }), plan, {
      filtered: options.filter !== undefined,
      ...(options.sparse === undefined ? {} : { sparse: options.sparse }),
    });
  }

  /**
   * Sentences about index entries that are missing or point at nothing; empty when a full recount equals the indexes.
   */
  verifyIndexes(store: KVReader): readonly string[] {
    const expected = new Set<string>();
    const problems: string[] = [];
    for (const [key, value] of store.iterate(prefixRange(Uint8Array.of(this.prefix))))
      for (const entry of this.#entriesOf(store, key, value)) expected.add(entry);
    for (const each of this.#indexes) {
      for (const entry of each.storedTexts(store)) {
        if (!expected.delete(entry)) problems.push(`${this.name}: index entry ${hexOf(entry)} has no such record`);
      }
    }
    for (const entry of expected) problems.push(`${this.name}: index entry ${hexOf(entry)} is missing`);
    return problems;
  }

  /** The key of a record in the store. */
  storeKey(key: K): Uint8Array {
    const out = new Uint8Array(1 + this.key.size(key));
    out[0] = this.prefix;
    this.key.write(key, out, 1);
    return out;
  }

  /** All index entries that a stored record must have, as texts. */
  #entriesOf(store: KVReader, key: Uint8Array, bytes: Uint8Array): readonly string[] {
    const make = () => {
      const [record, value] = [this.#decodeKey(key), decoded(store, this.#value, bytes)];
      const entries = this.#indexes.flatMap((each) => each.entryKeys(record, value)).map(keyText);
      return { key, entries };
    };
    if (!(store instanceof DecodedStore) || bytes.length <= SHARED_BYTES) return make().entries;
    const known = store.made(this, bytes, make);
    return equalBytes(known.key, key) ? known.entries : make().entries;
  }

  #decodeKey(bytes: Uint8Array): K {
    return this.key.read({ bytes, offset: 1 });
  }

  #moveIndexes(store: KVStore, key: K, after: V | undefined): void {
    const before = this.get(store, key);
    for (const each of this.#indexes) each.update(store, key, { before, after });
  }

  *#rows(
    store: KVReader,
    range: StoreRange,
    { skip, filter }: { skip: number; filter: ((value: V, key: K) => boolean) | undefined },
  ): IterableIterator<PageRow<[K, V]>> {
    for (const [bytes, raw] of store.iterate(range)) {
      yield {
        rawKey: () => bytes.subarray(skip),
        open: () => {
          const key = this.#decodeKey(bytes);
          const value = this.#value.decode(raw);
          return filter === undefined || filter(value, key) ? [key, value] : undefined;
        },
      };
    }
  }
}

/** Arrays up to this length may be one for many records: what says only that a key is there. */
const SHARED_BYTES = 1;

function decoded<V>(store: KVReader, codec: ValueCodec<V>, bytes: Uint8Array): V {
  return store instanceof DecodedStore ? store.decoded(codec, bytes) : codec.decode(bytes);
}

function hexOf(text: string): string {
  return Buffer.from(text, "latin1").toString("hex");
}

export interface ItemSpec<V> {
  readonly name: string;
  /** The whole key in the module's store; unique in the module. */
  readonly prefix: number;
  readonly value: ValueCodec<V>;
}

/** Declares a single value in a module's store. */
export function item<V>(spec: ItemSpec<V>): Item<V> {
  return new Item(spec);
}

export class Item<V> {
  readonly name: string;
  readonly prefixes: readonly number[];
  readonly #key: Uint8Array;
  readonly #value: ValueCodec<V>;

  constructor(spec: ItemSpec<V>) {
    this.name = spec.name;
    this.prefixes = [spec.prefix];
    this.#key = prefixed(spec.prefix, new Uint8Array(0));
    this.#value = spec.value;
  }

  get(store: KVReader): V | undefined {
    const bytes = store.get(this.#key);
    return bytes === undefined ? undefined : decoded(store, this.#value, bytes);
  }

  require(store: KVReader): V {
    const value = this.get(store);
    if (value === undefined) throw sdkErrors.notFound(this.name);
    return value;
  }

  has(store: KVReader): boolean {
    return store.has(this.#key);
  }

  set(store: KVStore, value: V): void {
    store.set(this.#key, this.#value.encode(value));
  }

  delete(store: KVStore): void {
    store.delete(this.#key);
  }
}
