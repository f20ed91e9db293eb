import { assert } from "../../util/index.ts";
import { CacheStore } from "../layers/cache.ts";
import { Overlay, type OverlayCursor } from "../layers/overlay.ts";
import { checkRowKey, keyText, type TextCursor, type TextRange, TextReader } from "../layers/text.ts";
import type { Database, DatabaseSnapshot, Write } from "./database.ts";

/** Deleted keys are dropped for good when they outnumber the live ones and reach this number. */
const COMPACT_FROM = 1024;

/** A database in memory, for tests, simulations and throw-away networks. */
export function memoryDatabase(): Database {
  return new MemoryDatabase();
}

/** A database in memory with the content of another, for tests that begin alike again and again. */
export function copyMemoryDatabase(database: Database): Database {
  assert(database instanceof MemoryDatabase, "only a database in memory can be copied");
  return database.copy();
}

class MemoryDatabase implements Database {
  readonly #tables = new Map<string, MemoryTable>();
  readonly #snapshots = new Set<MemorySnapshot>();
  #closed = false;

  table(name: string): MemoryTable {
    if (this.#closed) throw new Error("the database is closed");
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const made = new MemoryTable();
    this.#tables.set(name, made);
    return made;
  }

  write(writes: readonly Write[], bulk: Iterable<Write> = []): void {
    const all = [...bulk, ...writes];
    for (const { key } of all) checkRowKey(key);
    for (const { table, key, value } of all) {
      const text = keyText(key);
      const target = this.table(table);
      for (const snapshot of this.#snapshots) snapshot.remember(table, text, target.read(text));
      target.put(text, value === null ? null : Uint8Array.from(value));
    }
  }

  snapshot(): DatabaseSnapshot {
    const snapshot = new MemorySnapshot((name) => this.table(name), this.#snapshots);
    this.#snapshots.add(snapshot);
    return snapshot;
  }

  copy(): MemoryDatabase {
    const made = new MemoryDatabase();
    for (const [name, table] of this.#tables) made.#tables.set(name, table.copy());
    return made;
  }

  close(): void {
    this.#closed = true;
  }
}

class MemoryTable extends TextReader {
  #content = new Overlay();
  #deleted = 0;

  read(text: string): Uint8Array | undefined {
    return this.#content.get(text) ?? undefined;
  }

  cursor(range: TextRange): TextCursor {
    return new LiveCursor(this.#content.cursor(range));
  }

  put(text: string, value: Uint8Array | null): void {
    const before = this.#content.get(text);
    if (before === undefined && value === null) return;
    if (before === null) this.#deleted -= 1;
    if (value === null) this.#deleted += 1;
    this.#content.put(text, value);
    if (this.#deleted >= COMPACT_FROM && this.#deleted * 2 > this.#content.size) this.#compact();
  }

  /** Values are never changed in place, so both tables have the same ones. */
  copy(): MemoryTable {
    const made = new MemoryTable();
    made.#content = this.#live();
    return made;
  }

  #compact(): void {
    this.#content = this.#live();
    this.#deleted = 0;
  }

  /** The content without the deleted keys. */
  #live(): Overlay {
    const content = new Overlay();
    for (const [text, value] of this.#content.entries()) if (value !== null) content.put(text, value);
    return content;
  }
}

/** Leaves out the deleted keys of an overlay cursor. */
class LiveCursor implements TextCursor {
  text = "";
  value: Uint8Array = new Uint8Array(0);
  readonly #cursor: OverlayCursor;

  constructor(cursor: OverlayCursor) {
    this.#cursor = cursor;
  }

  next(): boolean {
    while (this.#cursor.next()) {
      if (this.#cursor.value === null || this.#cursor.value === undefined) continue;
      this.text = this.#cursor.text;
      this.value = this.#cursor.value;
      return true;
    }
    return false;
  }

  close(): void {
    this.#cursor.close();
  }
}

/** Keeps the older values of keys written since it was taken, as an overlay over the live tables. */
class MemorySnapshot implements DatabaseSnapshot {
  readonly #live: (name: string) => MemoryTable;
  readonly #open: Set<MemorySnapshot>;
  readonly #tables = new Map<string, CacheStore>();

  constructor(live: (name: string) => MemoryTable, open: Set<MemorySnapshot>) {
    this.#live = live;
    this.#open = open;
  }

  table(name: string): CacheStore {
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const made = new CacheStore(this.#live(name));
    this.#tables.set(name, made);
    return made;
  }

  remember(table: string, text: string, value: Uint8Array | undefined): void {
    const older = this.table(table);
    if (!older.holds(text)) older.write(text, value ?? null);
  }

  close(): void {
    this.#open.delete(this);
  }
}
