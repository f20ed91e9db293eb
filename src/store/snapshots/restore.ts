import { inflateSync } from "node:zlib";
import { assert, equalBytes, errorText } from "../../util/index.ts";
import { type Database, PATH_TABLES, pathTable, STATE_TABLES, stateTable, type Write } from "../database/database.ts";
import { storeErrors } from "../errors.ts";
import { baseRemoval, baseWrite, readRange } from "../history/epochs.ts";
import { isRestoring, metaRemoval, metaWrite, readMeta, restoringWrite } from "../meta.ts";
import { appHashOf, sha256 } from "../tree/hash.ts";
import { SparseMerkleTree } from "../tree/smt.ts";
import {
  BadSnapshot,
  CHUNK_CONTENT_BYTES,
  chunkHashes,
  ItemReader,
  MAX_CHUNK_BYTES,
  type SnapshotHead,
  type SnapshotItem,
} from "./form.ts";
import { type SnapshotTables, snapshotOrder } from "./take.ts";

/** Rows that one transaction removes after a failed restore. */
const CLEARED_AT_ONCE = 20_000;

export interface RestoreParts {
  /** A database without a state; what an interrupted restore left is removed. */
  readonly database: Database;
  readonly tables: SnapshotTables;
  readonly snapshot: SnapshotHead;
  /** App hash of the state at the height of the snapshot, from a trusted source. */
  readonly appHash: Uint8Array;
  /** Other tables that the caller fills before the end; they are emptied as well if the restore fails. */
  readonly others?: readonly string[];
}

/**
 * Puts the state of a snapshot into an empty database, chunk by chunk in their order. Until `finish` the database is
 * marked as being restored, and opening a state in it fails; after any error, `abandon` leaves it empty.
 */
export class StateRestore {
  readonly #parts: RestoreParts;
  readonly #hashes: readonly Uint8Array[];
  readonly #order: readonly string[];
  readonly #reader = new ItemReader();
  #index = 0;
  /** Place of the table that is being filled, and its last key. */
  #table = -1;
  #lastKey: Uint8Array | undefined;
  #entries = 0n;
  #isBegun = false;
  #isEnded = false;
  /** Roots of the stores, once they match the app hash. */
  #roots: ReadonlyMap<string, Uint8Array> | undefined;

  /** Throws `store/11` for an impossible snapshot, `store/12` if the home already has a state. */
  constructor(parts: RestoreParts) {
    this.#parts = parts;
    this.#hashes = readable(() => chunkHashes(parts.snapshot));
    this.#order = snapshotOrder(parts.tables);
    if (readMeta(parts.database) !== undefined) throw storeErrors.notEmpty();
    clearRestore(parts.database, parts.tables, parts.others);
    parts.database.write([restoringWrite(true)]);
  }

  get height(): bigint {
    return this.#parts.snapshot.height;
  }

  /** The number of the next chunk; the number of chunks when all are in. */
  get next(): number {
    return this.#index;
  }

  get isComplete(): boolean {
    return this.#index === this.#hashes.length;
  }

  /** Whether these are the bytes of the next chunk. */
  isNext(chunk: Uint8Array): boolean {
    const hash = this.#hashes[this.#index];
    return hash !== undefined && chunk.length <= MAX_CHUNK_BYTES && equalBytes(sha256(chunk), hash);
  }

  /** Takes the next chunk in. Throws `store/11`; only `abandon` can follow then. */
  apply(chunk: Uint8Array): void {
    if (!this.isNext(chunk)) throw storeErrors.badSnapshot(`chunk ${this.#index} has another hash`);
    readable(() => {
      const writes: Write[] = [];
      for (const item of this.#reader.read(inflated(chunk))) this.#take(item, writes);
      this.#index += 1;
      if (this.isComplete && !this.#isEnded) throw new BadSnapshot("its end is missing");
      if (this.isComplete && !this.#reader.isWhole) throw new BadSnapshot("bytes follow its end");
      this.#parts.database.write(writes);
    });
  }

  /** Throws `store/11` unless the state has the app hash. Nothing of it may be believed before. */
  verify(): void {
    const { database, tables, appHash } = this.#parts;
    if (!this.isComplete) throw new Error("chunks are missing");
    const roots = new Map<string, Uint8Array>();
    for (const name of tables.stores) {
      const tree = new SparseMerkleTree();
      tree.fill(database.table(stateTable(name)).iterate());
      roots.set(name, tree.root());
    }
    if (!equalBytes(appHashOf(roots), appHash))
      throw storeErrors.badSnapshot("its state does not have the hash that the header tells");
    this.#roots = roots;
  }

  /** Makes a verified state the database's state, in one write with the caller's writes to other tables. */
  finish(writes: readonly Write[] = []): void {
    const { database, snapshot, appHash } = this.#parts;
    const roots = this.#roots;
    if (roots === undefined) throw new Error("the state is verified first");
    const { height } = snapshot;
    database.write([metaWrite({ height, appHash, roots }), baseWrite(height), ...writes, restoringWrite(false)]);
  }

  /** Leaves the database as it was. */
  abandon(): void {
    clearRestore(this.#parts.database, this.#parts.tables, this.#parts.others);
  }

  #take(item: SnapshotItem, writes: Write[]): void {
    if (this.#isEnded) throw new BadSnapshot("something follows its end");
    if (!this.#isBegun) this.#begin(item);
    else if (item.kind === "table") this.#nextTable(item.name);
    else if (item.kind === "entry") this.#entry(item, writes);
    else if (item.kind === "end") this.#end(item.entries);
    else throw new BadSnapshot("it tells its height twice");
  }

  #begin(item: SnapshotItem): void {
    if (item.kind !== "height" || item.height !== this.#parts.snapshot.height)
      throw new BadSnapshot("its content is of another height");
    this.#isBegun = true;
  }

  #nextTable(name: string): void {
    this.#table += 1;
    this.#lastKey = undefined;
    const wanted = this.#order[this.#table];
    if (name !== wanted) throw new BadSnapshot(`it has table ${name} instead of ${wanted ?? "none"}`);
  }

  #entry({ key, value }: { readonly key: Uint8Array; readonly value: Uint8Array }, writes: Write[]): void {
    const table = this.#order[this.#table];
    if (table === undefined) throw new BadSnapshot("an entry belongs to no table");
    if (this.#lastKey !== undefined && Buffer.compare(key, this.#lastKey) <= 0)
      throw new BadSnapshot(`the keys of table ${table} are not in their order`);
    this.#lastKey = key;
    this.#entries += 1n;
    writes.push({ table, key, value });
    if (!table.startsWith(STATE_TABLES)) return;
    writes.push({ table: PATH_TABLES + table.slice(STATE_TABLES.length), key: sha256(key), value: key });
  }

  #end(entries: bigint): void {
    if (this.#table !== this.#order.length - 1) throw new BadSnapshot("tables are missing");
    if (entries !== this.#entries) throw new BadSnapshot("entries are missing");
    this.#isEnded = true;
  }
}

/** Removes a restored state that no block followed. An interruption leaves rows that the next restore removes. */
export function forgetState(database: Database, tables: SnapshotTables, others: readonly string[] = []): void {
  const { base, epochs } = readRange(database) ?? {};
  assert(base === readMeta(database)?.height && epochs?.length === 0, "no block follows a state that is forgotten");
  database.write([metaRemoval(), baseRemoval(), restoringWrite(true)]);
  clearRestore(database, tables, others);
}

/** Removes what an interrupted restore left, in several transactions; does nothing if there was none. */
export function clearRestore(
  database: Database,
  { stores, kept }: SnapshotTables,
  others: readonly string[] = [],
): void {
  if (!isRestoring(database)) return;
  for (const table of [...stores.flatMap((name) => [stateTable(name), pathTable(name)]), ...kept, ...others]) {
    for (let left = true; left; ) {
      const writes: Write[] = [];
      for (const [key] of database.table(table).iterate()) {
        writes.push({ table, key: Uint8Array.from(key), value: null });
        if (writes.length === CLEARED_AT_ONCE) break;
      }
      left = writes.length > 0;
      if (left) database.write(writes);
    }
  }
  database.write([restoringWrite(false)]);
}

/** The content of a chunk. One that grows larger than a chunk may be is given up on the way. */
function inflated(chunk: Uint8Array): Uint8Array {
  try {
    return inflateSync(chunk, { maxOutputLength: CHUNK_CONTENT_BYTES });
  } catch (error) {
    throw new BadSnapshot(`a chunk cannot be unpacked: ${errorText(error)}`);
  }
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof BadSnapshot)) throw cause;
    throw storeErrors.badSnapshot(cause.message, { cause });
  }
}
