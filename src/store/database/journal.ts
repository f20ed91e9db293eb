import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { bytesToUint64, errorText, toUtf8, uint64ToBytes } from "../../util/index.ts";
import { storeErrors } from "../errors.ts";
import type { Entry, KVReader, Range } from "../kv.ts";
import { CacheStore } from "../layers/cache.ts";
import { keyText } from "../layers/text.ts";
import type { Write } from "./database.ts";
import { deflate, inflate } from "./deflated.ts";

/**
 * Small transactions are kept in a database of their own: number (8 bytes) -> changes, compressed. A change of a row
 * writes all pages above it again, so the changes of many blocks come to their tables together.
 */
export const JOURNAL_FOLDER = "journal";
/** Table with the number of the first transaction whose changes are not in the tables. */
export const JOURNAL_TABLE = "journal";
const FIRST = toUtf8("first");

/** Rows and bytes of a transaction that comes into the journal, at most, and rows of the whole journal. */
export const JOURNAL_LIMITS = { rows: 512, bytes: 64 * 1024, allRows: 8_192 } as const;

/** Whether a transaction comes into the journal. */
export function isSmall(writes: readonly Write[]): boolean {
  if (writes.length > JOURNAL_LIMITS.rows) return false;
  const bytes = writes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0);
  return bytes <= JOURNAL_LIMITS.bytes;
}

/** The number of the first transaction whose changes are not in the tables. */
export function readFirst(table: KVReader): bigint {
  const bytes = table.get(FIRST);
  return bytes === undefined ? 0n : bytesToUint64(bytes);
}

export function firstWrite(first: bigint): Write {
  return { table: JOURNAL_TABLE, key: FIRST, value: uint64ToBytes(first) };
}

export function encodeWrites(writes: readonly Write[]): Buffer {
  const out = new BinaryWriter();
  for (const { table, key, value } of writes) {
    out
      .string(table)
      .bytes(key)
      .bool(value !== null);
    if (value !== null) out.bytes(value);
  }
  return deflate(out.finish());
}

/**
 * The changes of a transaction; undefined if it is not in the journal, because it came directly to its tables or did not
 * happen yet. Either way nothing that follows it may be read.
 */
export function readWrites(journal: KVReader, number: bigint): Write[] | undefined {
  const row = journal.get(uint64ToBytes(number));
  if (row === undefined) return undefined;
  try {
    return decodeWrites(inflate(row));
  } catch (cause) {
    throw storeErrors.damaged(`row ${number} of the journal: ${errorText(cause)}`, { cause });
  }
}

function decodeWrites(bytes: Uint8Array): Write[] {
  const reader = new BinaryReader(bytes);
  const writes: Write[] = [];
  while (reader.pos < reader.len) {
    const [table, key] = [reader.string(), Uint8Array.from(reader.bytes())];
    writes.push({ table, key, value: reader.bool() ? Uint8Array.from(reader.bytes()) : null });
  }
  return writes;
}

/** Changes that are in the journal and not in their tables yet. */
export class PendingWrites {
  #rows = 0;
  /** By table, in their order, each with its number among the writes of all tables. */
  readonly #writes = new Map<
    string,
    { readonly row: number; readonly text: string; readonly value: Buffer | null }[]
  >();
  readonly #stores = new Map<string, CacheStore>();
  readonly #tableOf: (name: string) => KVReader | undefined;

  /** `tableOf` gives a table without these changes; changes of a table that it does not have are ignored. */
  constructor(tableOf: (name: string) => KVReader | undefined) {
    this.#tableOf = tableOf;
  }

  get rows(): number {
    return this.#rows;
  }

  add(writes: readonly Write[]): void {
    for (const { table, key, value } of writes) {
      // Tables give buffers.
      const copy = value === null ? null : Buffer.from(value);
      const text = keyText(key);
      const own = this.#writes.get(table) ?? [];
      if (own.length === 0) this.#writes.set(table, own);
      own.push({ row: this.#rows, text, value: copy });
      this.#rows += 1;
      this.#storeOf(table)?.write(text, copy);
    }
  }

  /** A table with the changes; undefined where it has none. */
  over(table: string): KVReader | undefined {
    return this.#stores.get(table);
  }

  /** The last change of each row, by tables, in the order of keys. */
  *changes(): Generator<Write> {
    for (const [table, store] of this.#stores)
      for (const [key, value] of store.sortedChanges()) yield { table, key, value };
  }

  /** A table with the journal's first `rows` changes, over its contents at that moment. */
  overAt(rows: number, name: string, table: KVReader): KVReader {
    const store = new CacheStore(table);
    for (const { row, text, value } of this.#writes.get(name) ?? []) {
      if (row >= rows) break;
      store.write(text, value);
    }
    return store.changeCount === 0 ? table : store;
  }

  #storeOf(name: string): CacheStore | undefined {
    const known = this.#stores.get(name);
    if (known !== undefined) return known;
    const table = this.#tableOf(name);
    if (table === undefined) return undefined;
    const made = new CacheStore(table);
    this.#stores.set(name, made);
    return made;
  }
}

/** A table with the changes of the journal. */
export class JournaledTable implements KVReader {
  readonly #table: KVReader;
  readonly #over: () => KVReader | undefined;

  constructor(table: KVReader, over: () => KVReader | undefined) {
    this.#table = table;
    this.#over = over;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return (this.#over() ?? this.#table).get(key);
  }

  has(key: Uint8Array): boolean {
    return (this.#over() ?? this.#table).has(key);
  }

  iterate(range?: Range): IterableIterator<Entry> {
    return (this.#over() ?? this.#table).iterate(range);
  }
}

/** The databases of a journal as its reader sees them. */
export interface JournalParts {
  /** Table with the number of the first transaction. */
  readonly first: KVReader;
  readonly rows: KVReader;
  tableOf(name: string): KVReader | undefined;
}

/** The journal for a reader in another thread; what it has read is right until the reader looks anew. */
export class JournalReader {
  readonly #parts: JournalParts;
  #pending: PendingWrites;
  #first = 0n;
  #next = 0n;
  #isRead = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#pending = new PendingWrites(parts.tableOf);
  }

  over(table: string): KVReader | undefined {
    if (!this.#isRead) this.#read();
    return this.#pending.over(table);
  }

  /** The next look-up reads the changes since; the views of both databases begin anew with it. */
  refresh(): void {
    this.#isRead = false;
  }

  /** The tables are older than the rows or as old, so rows end where the tables would have to be newer. */
  #read(): void {
    const { first, rows, tableOf } = this.#parts;
    const from = readFirst(first);
    if (from !== this.#first) {
      this.#pending = new PendingWrites(tableOf);
      this.#first = from;
      this.#next = from;
    }
    for (let writes = readWrites(rows, this.#next); writes !== undefined; writes = readWrites(rows, this.#next)) {
      this.#pending.add(writes);
      this.#next += 1n;
    }
    this.#isRead = true;
  }
}
