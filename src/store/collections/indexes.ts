import { type AnyKey, decodeKey, encodeKey, type KeyCodec } from "../codec/keys.ts";
import { PRESENT } from "../codec/values.ts";
import { type KVReader, type KVStore, prefixRange } from "../kv.ts";
import { asTextReader, textRange } from "../layers/text.ts";
import { storedValues } from "./decoded.ts";
import { type Page, type PageRequest, planPage, takePage } from "./pagination.ts";
import { pageRange, type TypedRange, typedRange } from "./ranges.ts";

/** How a collection is found by something other than its key. `V` and `K` are the collection's value and key. */
export interface IndexSpec<V, K, IK, IP> {
  /** First byte of the index entries in the store. */
  readonly prefix: number;
  readonly key: KeyCodec<IK, IP>;
  /** Where a record appears in the index; undefined leaves it out. */
  readonly of?: (value: V, key: K) => IK | undefined;
  /** Like `of` for records that appear in several places; the places must differ. */
  readonly each?: (value: V, key: K) => readonly IK[];
}

/** Declares an index: `index({ prefix: 0x11, key: tupleKey(addressKey), of: (order: Order) => [order.owner] })`. */
export function index<V, K, IK extends AnyKey, IP>(spec: IndexSpec<V, K, IK, IP>): IndexSpec<V, K, IK, IP> {
  return spec;
}

/** The parts of a collection that an index needs. */
export interface IndexedCollection<K, V> {
  readonly name: string;
  readonly key: KeyCodec<K, unknown>;
  require(store: KVReader, key: K): V;
}

/** Entries `prefix || index key || primary key` without a value, maintained by the collection alone. */
export class Index<K, V, IK, IP> {
  readonly prefix: number;
  readonly #spec: IndexSpec<V, K, IK, IP>;
  readonly #collection: IndexedCollection<K, V>;

  constructor(spec: IndexSpec<V, K, IK, IP>, collection: IndexedCollection<K, V>) {
    this.prefix = spec.prefix;
    this.#spec = spec;
    this.#collection = collection;
  }

  /** Primary keys in the order of the index. */
  *keys(store: KVReader, range: TypedRange<IK, IP> = {}): IterableIterator<K> {
    for (const [, key] of this.entries(store, range)) yield key;
  }

  /** Pairs of index key and primary key. */
  *entries(store: KVReader, range: TypedRange<IK, IP> = {}): IterableIterator<[IK, K]> {
    for (const [bytes] of store.iterate(typedRange(this.prefix, this.#spec.key, range))) yield this.#decode(bytes);
  }

  /** Primary keys with their records. */
  *iterate(store: KVReader, range: TypedRange<IK, IP> = {}): IterableIterator<[K, V]> {
    for (const key of this.keys(store, range)) yield [key, this.#collection.require(store, key)];
  }

  /** One page of records in the order of the index. */
  paginate(
    store: KVReader,
    page: PageRequest | undefined,
    options: { readonly prefix?: IP; readonly filter?: (value: V, key: K) => boolean } = {},
  ): Page<[K, V]> {
    const plan = planPage(page);
    const { range, skip } = pageRange(typedRange(this.prefix, this.#spec.key, options), plan, (key) =>
      this.#decode(key),
    );
    const open = (bytes: Uint8Array): [K, V] | undefined => {
      const [, key] = this.#decode(bytes);
      const value = this.#collection.require(store, key);
      return options.filter === undefined || options.filter(value, key) ? [key, value] : undefined;
    };
    return takePage(rows(store, range, skip, open), plan, { filtered: options.filter !== undefined });
  }

  /** Number of entries of a range. */
  count(store: KVReader, range: TypedRange<IK, IP> = {}): number {
    let count = 0;
    for (const _ of storedValues(store, typedRange(this.prefix, this.#spec.key, range))) count += 1;
    return count;
  }

  /** Moves a record's entries from its old value to its new one; undefined means no value. */
  update(store: KVStore, key: K, change: { readonly before: V | undefined; readonly after: V | undefined }): void {
    const before = this.entryKeys(key, change.before);
    const after = this.entryKeys(key, change.after);
    for (const entry of before) if (!includes(after, entry)) store.delete(entry);
    for (const entry of after) if (!includes(before, entry)) store.set(entry, PRESENT);
  }

  /** The store keys of the entries that a record must have. */
  entryKeys(key: K, value: V | undefined): Uint8Array[] {
    if (value === undefined) return [];
    const one = this.#spec.of?.(value, key);
    const places = one === undefined ? (this.#spec.each?.(value, key) ?? []) : [one];
    return places.map((place) => this.#encode(place, key));
  }

  /** Store keys of all entries there are, as texts. */
  *storedTexts(store: KVReader): IterableIterator<string> {
    const cursor = asTextReader(store).cursor(textRange(prefixRange(Uint8Array.of(this.prefix))));
    while (cursor.next()) yield cursor.text;
  }

  #encode(place: IK, key: K): Uint8Array {
    const place_ = encodeKey(this.#spec.key, place);
    const primary = encodeKey(this.#collection.key, key);
    const out = new Uint8Array(1 + place_.length + primary.length);
    out[0] = this.prefix;
    out.set(place_, 1);
    out.set(primary, 1 + place_.length);
    return out;
  }

  #decode(bytes: Uint8Array): [IK, K] {
    const cursor = { bytes, offset: 1 };
    const place = this.#spec.key.read(cursor);
    return [place, decodeKey(this.#collection.key, bytes.subarray(cursor.offset))];
  }
}

function* rows<T>(
  store: KVReader,
  range: { start: Uint8Array; end: Uint8Array | undefined; reverse: boolean },
  skip: number,
  open: (bytes: Uint8Array) => T | undefined,
): IterableIterator<{ rawKey: () => Uint8Array; open: () => T | undefined }> {
  for (const [key] of store.iterate(range)) yield { rawKey: () => key.subarray(skip), open: () => open(key) };
}

function includes(list: readonly Uint8Array[], wanted: Uint8Array): boolean {
  return list.some((entry) => Buffer.compare(entry, wanted) === 0);
}
