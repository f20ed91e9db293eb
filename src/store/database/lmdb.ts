import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase, type Transaction } from "lmdb";
import { fromUtf8, makePrivateDirectory, uint64ToBytes } from "../../util/index.ts";
import { DatabaseFault, storeErrors } from "../errors.ts";
import { firstEntry, type KVReader } from "../kv.ts";
import { checkRowKey } from "../layers/text.ts";
import { checkDataFile } from "./data-file.ts";
import type { Database, DatabaseReader, DatabaseSnapshot, Write } from "./database.ts";
import { deflate, isDeflated } from "./deflated.ts";
import {
  encodeWrites,
  firstWrite,
  isSmall,
  JOURNAL_FOLDER,
  JOURNAL_LIMITS,
  JOURNAL_TABLE,
  JournaledTable,
  JournalReader,
  PendingWrites,
  readFirst,
  readWrites,
} from "./journal.ts";
import { LmdbTable, lmdbTable, type Table, type View } from "./lmdb-table.ts";
import { DatabaseLock } from "./lock.ts";

type Root = RootDatabase<Buffer, Uint8Array>;

/** Upper bound of the number of tables; LMDB reserves a few bytes for each. */
const MAX_TABLES = 128;
/** Keys and values are plain bytes; we have our own caches, so the library's is off. */
const BINARY = { keyEncoding: "binary", encoding: "binary", cache: false } as const;

/**
 * Opens (or makes) the database in its own directory. Throws if another process has it open, or it is damaged.
 *
 * Every write is one LMDB transaction that is on disk before `write` returns. LMDB never overwrites pages in use, so a
 * process killed at any moment leaves the last complete transaction. A small write adds one row to the journal; its
 * changes reach their tables together with later ones, and every reader sees them at once.
 */
export function openLmdb(directory: string): Database {
  makePrivateDirectory(directory);
  const path = realpathSync(directory);
  const lock = DatabaseLock.take(path);
  try {
    const journal = join(path, JOURNAL_FOLDER);
    makePrivateDirectory(journal);
    for (const folder of [path, journal]) checkDataFile(join(folder, "data.mdb"));
    // Without overlapping sync a transaction is on disk when its commit returns. (The types do not know the file mode.)
    const options = { ...BINARY, noSubdir: false, maxDbs: MAX_TABLES, overlappingSync: false, permissionsMode: 0o600 };
    return new LmdbDatabase({ root: open(path, options), journal: open(journal, options), lock });
  } catch (error) {
    lock.release();
    throw storeFault(error, path);
  }
}

/**
 * Reads the tables of a database that this process has open already, from another of its threads: as they were at the first read
 * after the last `refresh`. Throws when a table is missing: the thread that has the database open creates all tables beforehand,
 * because LMDB cannot add new ones in two threads at once.
 */
export function openLmdbReader(directory: string, names: readonly string[]): DatabaseReader {
  const path = realpathSync(directory);
  const options = { ...BINARY, noSubdir: false, maxDbs: MAX_TABLES, readOnly: true };
  const root: Root = open(path, options);
  const folder = join(path, JOURNAL_FOLDER);
  // A database of an earlier version has no journal.
  const rows: Root | undefined = existsSync(join(folder, "data.mdb")) ? open(folder, options) : undefined;
  const views = [new HeldView(root), ...(rows === undefined ? [] : [new HeldView(rows)])] as const;
  const [view, rowsView] = views;
  const plain = new Map(names.map((name) => [name, lmdbTable(name, root.openDB(name, BINARY), view.get)]));
  const first = lmdbTable(JOURNAL_TABLE, root.openDB(JOURNAL_TABLE, BINARY), view.get);
  const journal =
    rows &&
    new JournalReader({
      first,
      rows: new LmdbTable(rows, rowsView?.get),
      tableOf: (name) => plain.get(name),
    });
  const tables = new Map(
    [...plain].map(([name, table]) => [name, new JournaledTable(table, () => journal?.over(name))]),
  );
  const refresh = (): void => {
    for (const each of views) each.end();
    journal?.refresh();
  };
  return {
    table: (name) => {
      const table = tables.get(name);
      if (table === undefined) throw new Error(`table "${name}" is not among those that are read`);
      return table;
    },
    refresh,
    close: () => {
      refresh();
      void root.close();
      void rows?.close();
    },
  };
}

/** A read transaction from the first look to the end; it keeps the pages of its moment. */
class HeldView {
  readonly #database: Root;
  #view: View | undefined;
  readonly get = (): View => (this.#view ??= { transaction: this.#database.useReadTransaction() });

  constructor(database: Root) {
    this.#database = database;
  }

  end(): void {
    this.#view?.transaction.done();
    this.#view = undefined;
    // The library would give the same transaction again until its loop goes on.
    this.#database.resetReadTxn();
  }
}

/** LMDB's errors when it reads something that it cannot have written. */
const DAMAGE = /^MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|BAD_TXN|PANIC)\b/;

/** An error met in a database of `directory`: damage is reported as such, with its remedy, anything else unchanged. */
export function storeFault(error: unknown, directory: string): unknown {
  if (!(error instanceof Error) || !DAMAGE.test(error.message))
    return error instanceof DatabaseFault ? error.cause : error;
  return storeErrors.damaged(`${directory}: ${error.message}`);
}

interface DatabaseParts {
  readonly root: Root;
  readonly journal: Root;
  readonly lock: DatabaseLock;
}

class LmdbDatabase implements Database {
  readonly #root: Root;
  readonly #lock: DatabaseLock;
  readonly #tables = new Map<string, Table>();
  readonly #snapshots = new Set<LmdbSnapshot>();
  readonly #journal: Root;
  /** Numbers of the first transaction that is not in the tables, and of the next one. */
  #first: bigint;
  #next: bigint;
  /** Rows of the journal from one number up to before another, which readers do not need any more. */
  #old = { from: 0n, to: 0n };
  #pending = this.#nothingPending();
  #closed = false;

  constructor({ root, journal, lock }: DatabaseParts) {
    this.#root = root;
    this.#journal = journal;
    this.#lock = lock;
    // Opens all existing tables, so that a table opened later is known to be missing from older snapshots. LMDB lists
    // names with the zero byte that ends them.
    for (const name of [...root.getKeys()]) this.#open(fromUtf8(name).replace(/\0$/, ""));
    this.#first = readFirst(lmdbTable(JOURNAL_TABLE, this.#open(JOURNAL_TABLE)));
    this.#next = this.#first;
    this.#recover();
  }

  /** Brings what the last process left in the journal to its tables. */
  #recover(): void {
    const rows = new LmdbTable(this.#journal);
    for (let writes = readWrites(rows, this.#next); writes !== undefined; writes = readWrites(rows, this.#next)) {
      for (const { table } of writes) this.#open(table);
      this.#pending.add(writes);
      this.#next += 1n;
    }
    // A transaction without changes counts too: no row may follow one that is no longer there.
    if (this.#next > this.#first) this.#settle([]);
    this.#old = { from: this.#next, to: this.#next };
    // No reader is there yet.
    if (firstEntry(rows) !== undefined) this.#journal.clearSync();
  }

  table(name: string): KVReader {
    return new JournaledTable(lmdbTable(name, this.#open(name)), () => this.#pending.over(name));
  }

  write(writes: readonly Write[], bulk?: Iterable<Write>): void {
    // Tables are opened first: LMDB opens them in transactions of their own.
    for (const { table, key } of writes) {
      checkRowKey(key);
      this.#open(table);
    }
    const hasRoom = this.#pending.rows + writes.length <= JOURNAL_LIMITS.allRows;
    if (bulk === undefined && hasRoom && isSmall(writes)) this.#note(writes);
    else this.#settle(writes, bulk);
  }

  /** One transaction that adds the changes to the journal. */
  #note(writes: readonly Write[]): void {
    const { from, to } = this.#old;
    this.#journal.transactionSync(() => {
      for (let number = from; number < to; number++) this.#journal.removeSync(asBuffer(uint64ToBytes(number)));
      this.#journal.putSync(asBuffer(uint64ToBytes(this.#next)), encodeWrites(writes));
    });
    this.#old = { from: to, to };
    this.#next += 1n;
    this.#pending.add(writes);
  }

  /** One transaction that brings everything to its tables. A reader that began before it still needs the rows. */
  #settle(writes: readonly Write[], bulk: Iterable<Write> = []): void {
    const next = this.#next + 1n;
    this.#root.transactionSync(() => {
      for (const write of this.#pending.changes()) this.#put(write);
      for (const write of bulk) {
        checkRowKey(write.key);
        this.#put(write);
      }
      for (const write of [...writes, firstWrite(next)]) this.#put(write);
    });
    this.#old = { from: this.#old.from, to: this.#first };
    this.#first = next;
    this.#next = next;
    this.#pending = this.#nothingPending();
  }

  #nothingPending(): PendingWrites {
    return new PendingWrites((name) => lmdbTable(name, this.#open(name)));
  }

  #put({ table: name, key, value }: Write): void {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`table "${name}" is not open`);
    if (value === null) table.removeSync(key);
    else table.putSync(key, isDeflated(name) ? deflate(value) : asBuffer(value));
  }

  snapshot(): DatabaseSnapshot {
    const parts = { tables: this.#tables, pending: this.#pending, transaction: this.#root.useReadTransaction() };
    const snapshot = new LmdbSnapshot(parts, this.#snapshots);
    this.#snapshots.add(snapshot);
    return snapshot;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const snapshot of this.#snapshots) snapshot.close();
    try {
      // Earlier versions know no journal. Without room for it on the disk the next start does it.
      if (this.#pending.rows > 0) this.#settle([]);
    } catch {}
    for (const each of [this.#root, this.#journal]) void each.close();
    this.#lock.release();
  }

  #open(name: string): Table {
    if (this.#closed) throw new Error("the database is closed");
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const table: Table = this.#root.openDB(name, BINARY);
    this.#tables.set(name, table);
    return table;
  }
}

interface SnapshotParts {
  readonly tables: ReadonlyMap<string, Table>;
  readonly pending: PendingWrites;
  readonly transaction: Transaction;
}

class LmdbSnapshot implements DatabaseSnapshot {
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #pending: PendingWrites;
  readonly #rows: number;
  readonly #view: View;
  readonly #open: Set<LmdbSnapshot>;

  constructor({ tables, pending, transaction }: SnapshotParts, open: Set<LmdbSnapshot>) {
    this.#tables = new Map(tables);
    this.#pending = pending;
    this.#rows = pending.rows;
    this.#view = { transaction };
    this.#open = open;
  }

  table(name: string): KVReader {
    if (!this.#open.has(this)) throw new Error("the snapshot is closed");
    const table = this.#tables.get(name);
    if (table === undefined) return emptyReader;
    return this.#pending.overAt(
      this.#rows,
      name,
      lmdbTable(name, table, () => this.#view),
    );
  }

  close(): void {
    if (this.#open.delete(this)) this.#view.transaction.done();
  }
}

const emptyReader: KVReader = {
  get: () => undefined,
  has: () => false,
  iterate: () => [].values(),
};

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
