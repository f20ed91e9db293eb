/** One entry of a store. */
export type Entry = [key: Uint8Array, value: Uint8Array];

/** Keys from `start` (included) up to `end` (excluded), in byte order; from the end downwards when `reverse`. */
export interface Range {
  readonly start?: Uint8Array | undefined;
  readonly end?: Uint8Array | undefined;
  readonly reverse?: boolean | undefined;
}

/**
 * An ordered map from bytes to bytes that can be read.
 *
 * Bytes handed out belong to the store: a caller must not change them.
 */
export interface KVReader {
  get(key: Uint8Array): Uint8Array | undefined;
  has(key: Uint8Array): boolean;
  /**
   * Entries of a range in byte order, as they were when `iterate` was called: the store may be written (also through
   * the flush of a branch) while the iterator is in use. Leaving a `for...of` loop closes the iterator; a caller who
   * steps by hand calls `return()` when done, or uses {@link firstEntry}.
   */
  iterate(range?: Range): IterableIterator<Entry>;
}

/**
 * An ordered map from bytes to bytes.
 *
 * Keys have 1 to {@link MAX_KEY_BYTES} bytes, values at least one. Values handed in belong to the store: a caller must
 * not change them later.
 */
export interface KVStore extends KVReader {
  set(key: Uint8Array, value: Uint8Array): void;
  delete(key: Uint8Array): void;
}

/** Longest key in bytes; every database beneath must take it. */
export const MAX_KEY_BYTES = 1024;

/** Longest key of a row of a database: a key of a store with the prefix it has in the tables of old values. */
export const MAX_ROW_KEY_BYTES = 1700;

/** The range of all keys that begin with `prefix`. An empty prefix is the range of all keys. */
export function prefixRange(prefix: Uint8Array): { readonly start: Uint8Array; readonly end: Uint8Array | undefined } {
  return { start: prefix, end: prefixEnd(prefix) };
}

/** The first key after all keys that begin with `prefix`; undefined if there is none. */
export function prefixEnd(prefix: Uint8Array): Uint8Array | undefined {
  for (let i = prefix.length - 1; i >= 0; i--) {
    const byte = prefix[i] ?? 0xff;
    if (byte === 0xff) continue;
    const end = new Uint8Array(prefix.subarray(0, i + 1));
    end[i] = byte + 1;
    return end;
  }
  return undefined;
}

/** The first entry of a range, or undefined. */
export function firstEntry(reader: KVReader, range?: Range): Entry | undefined {
  for (const entry of reader.iterate(range)) return entry;
  return undefined;
}
