import type { Database as Dbi, RangeOptions, Transaction } from "lmdb";
import { DatabaseFault } from "../errors.ts";
import { type Entry, type KVReader, MAX_ROW_KEY_BYTES, type Range } from "../kv.ts";
import { inflate, isDeflated } from "./deflated.ts";

export type Table = Dbi<Buffer, Uint8Array>;

/** Larger values are not kept for the next reading. */
const MOST_KEPT_BYTES = 1024;

/** The read transaction of a moment, as LMDB takes it. */
export interface View {
  readonly transaction: Transaction;
}

/** The table of a name, at the last commit or as a view shows it. */
export function lmdbTable(name: string, table: Table, view?: () => View): KVReader {
  const reader = new LmdbTable(table, view);
  return isDeflated(name) ? new InflatingTable(reader) : reader;
}

/** A table whose values are compressed on disk. */
class InflatingTable implements KVReader {
  readonly #table: KVReader;

  constructor(table: KVReader) {
    this.#table = table;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const value = this.#table.get(key);
    return value === undefined ? undefined : inflate(value);
  }

  has(key: Uint8Array): boolean {
    return this.#table.has(key);
  }

  iterate(range?: Range): IterableIterator<Entry> {
    return inflated(this.#table.iterate(range));
  }
}

function* inflated(entries: Iterable<Entry>): IterableIterator<Entry> {
  for (const [key, value] of entries) yield [key, inflate(value)];
}

/** One table on disk. LMDB copies the values that it returns. */
export class LmdbTable implements KVReader {
  readonly #table: Table;
  readonly #view: (() => View) | undefined;
  /** The last value under the key that every request reads: the same array stands for the same bytes. */
  #lastKey: Uint8Array | undefined;
  #lastValue: Buffer | undefined;
  #lastView: View | undefined;

  constructor(table: Table, view?: () => View) {
    this.#table = table;
    this.#view = view;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    if (key.length === 0 || key.length > MAX_ROW_KEY_BYTES) return undefined;
    return unlessFaulty(() => (this.#view === undefined ? this.#read(key) : this.#readIn(this.#view(), key)));
  }

  #read(key: Uint8Array): Buffer | undefined {
    if (this.#lastKey === key && this.#isLastValue(this.#table.getBinaryFast(key))) return this.#lastValue;
    return this.#keep(key, this.#table.getBinary(key));
  }

  #readIn(view: View, key: Uint8Array): Buffer | undefined {
    if (this.#lastKey === key && this.#lastView === view) return this.#lastValue;
    const value = this.#table.get(key, view);
    this.#lastView = view;
    return this.#lastKey === key && this.#isLastValue(value) ? this.#lastValue : this.#keep(key, value);
  }

  #keep(key: Uint8Array, value: Buffer | undefined): Buffer | undefined {
    const isKept = value !== undefined && value.length <= MOST_KEPT_BYTES;
    this.#lastKey = isKept ? key : undefined;
    this.#lastValue = isKept ? value : undefined;
    return value;
  }

  /** `bytes` may be memory of LMDB, which the next reading overwrites: a copy costs as much as the reading. */
  #isLastValue(bytes: Buffer | undefined): boolean {
    const last = this.#lastValue;
    if (bytes === undefined || last?.length !== bytes.length) return false;
    return bytes.compare(last, 0, last.length, 0, bytes.length) === 0;
  }

  has(key: Uint8Array): boolean {
    return this.get(key) !== undefined;
  }

  iterate(range: Range = {}): IterableIterator<Entry> {
    const bounds = { start: lmdbBound(range.start), end: lmdbBound(range.end) };
    const options = { ...lmdbRange(bounds, range.reverse === true), ...this.#options() };
    return new LmdbIterator(() => this.#table.getRange(options)[Symbol.iterator]());
  }

  #options(): { transaction?: Transaction } {
    return this.#view?.() ?? {};
  }
}

/** A bound as LMDB takes it. No key is longer than the limit, so cutting after it moves no key across the bound. */
function lmdbBound(bound: Uint8Array | undefined): Uint8Array | undefined {
  return bound === undefined || bound.length === 0 ? undefined : bound.subarray(0, MAX_ROW_KEY_BYTES + 1);
}

/** LMDB names the bound it begins at `start`, also when it walks backwards. */
function lmdbRange({ start, end }: Range, reverse: boolean): RangeOptions {
  const lower = start === undefined ? {} : { [reverse ? "end" : "start"]: start };
  const upper = end === undefined ? {} : { [reverse ? "start" : "end"]: end };
  return { ...lower, ...upper, ...(reverse ? { reverse, exclusiveStart: end !== undefined, inclusiveEnd: true } : {}) };
}

type Entries = Iterator<{ key: Uint8Array; value: Uint8Array }>;

class LmdbIterator implements IterableIterator<Entry> {
  readonly #entries: Entries;

  constructor(begin: () => Entries) {
    this.#entries = unlessFaulty(begin);
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Entry> {
    const step = unlessFaulty(() => this.#entries.next());
    return step.done === true
      ? { done: true, value: undefined }
      : { done: false, value: [step.value.key, step.value.value] };
  }

  return(): IteratorResult<Entry> {
    this.#entries.return?.();
    return { done: true, value: undefined };
  }
}

/** Reads; what LMDB throws becomes a fault of the database. */
function unlessFaulty<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new DatabaseFault(error);
  }
}
