import { type KeyCodec, tupleKey, uint64Key } from "../codec/keys.ts";
import { presentValue } from "../codec/values.ts";
import type { KVReader, KVStore } from "../kv.ts";
import { Collection } from "./collections.ts";

export interface QueueSpec<K> {
  readonly name: string;
  readonly prefix: number;
  /** Codec of the entries. */
  readonly key: KeyCodec<K, unknown>;
}

/** Something that waits for a block height, or for any other unsigned 64-bit number such as a time. */
export interface Due<K> {
  readonly height: bigint;
  readonly key: K;
}

/** Declares a queue ordered by height and then by key. */
export function queue<K>(spec: QueueSpec<K>): Queue<K> {
  return new Queue(spec);
}

export class Queue<K> {
  readonly prefixes: readonly number[];
  readonly #entries: Collection<[bigint, K], unknown, true>;

  constructor(spec: QueueSpec<K>) {
    this.prefixes = [spec.prefix];
    this.#entries = new Collection({
      name: spec.name,
      prefix: spec.prefix,
      key: tupleKey<[bigint, K]>(uint64Key, spec.key),
      value: presentValue,
    });
  }

  push(store: KVStore, height: bigint, key: K): void {
    this.#entries.set(store, [height, key], true);
  }

  has(store: KVReader, height: bigint, key: K): boolean {
    return this.#entries.has(store, [height, key]);
  }

  /** Removes an entry; does nothing if it does not exist. */
  remove(store: KVStore, height: bigint, key: K): void {
    this.#entries.delete(store, [height, key]);
  }

  /** At most `cap` first entries with a height of at most `height`. */
  due(store: KVReader, height: bigint, cap: number): Due<K>[] {
    const found: Due<K>[] = [];
    if (cap <= 0) return found;
    for (const [at, key] of this.#entries.keys(store)) {
      if (at > height) break;
      found.push({ height: at, key });
      if (found.length === cap) break;
    }
    return found;
  }

  /** Like `due`, and removes the entries; entries beyond the cap stay for the next call. */
  popDue(store: KVStore, height: bigint, cap: number): Due<K>[] {
    const found = this.due(store, height, cap);
    for (const { height: at, key } of found) this.remove(store, at, key);
    return found;
  }

  /**
   * Removes due entries, first heights first, and hands each to `handle`, which returns how much of the budget its work
   * took. Ends when none is left or the budget is used up; the last entry may exceed it. Returns the remaining budget.
   */
  drain(store: KVStore, due: { readonly height: bigint; readonly budget: number }, handle: (key: K) => number): number {
    let left = due.budget;
    for (const { height, key } of this.due(store, due.height, left)) {
      if (left <= 0) break;
      this.remove(store, height, key);
      left -= handle(key);
    }
    return left;
  }

  /** All entries in order. */
  *iterate(store: KVReader): IterableIterator<Due<K>> {
    for (const [height, key] of this.#entries.keys(store)) yield { height, key };
  }
}

/** The last time that a queue can hold, in the year 2554. Entries that end then or later stay in the queue. */
const LAST_QUEUE_TIME = 2n ** 64n - 1n;

/** The place of a time, in nanoseconds since 1970, in a queue by times. */
export function queueTime(nanos: bigint): bigint {
  return nanos > LAST_QUEUE_TIME ? LAST_QUEUE_TIME : nanos;
}

/** The place up to which such a queue is due at a time. */
export function dueTime(nanos: bigint): bigint {
  return nanos < LAST_QUEUE_TIME ? nanos : LAST_QUEUE_TIME - 1n;
}
