import { type KeyWalk, SortedKeys } from "./sorted.ts";
import type { TextRange } from "./text.ts";

/** An overlay's entry for a key: bytes, `null` for deleted, `undefined` for no entry. */
export type Known = Uint8Array | null | undefined;

/** Changes by key, with ordered cursors that keep the view of the moment they were opened. */
export class Overlay {
  readonly #values = new Map<string, Uint8Array | null>();
  readonly #keys = new SortedKeys();
  readonly #open = new Set<OverlayCursor>();

  get size(): number {
    return this.#values.size;
  }

  get(text: string): Known {
    return this.#values.get(text);
  }

  put(text: string, value: Uint8Array | null): void {
    if (this.#open.size > 0) for (const cursor of this.#open) cursor.remember(text, this.#values.get(text));
    const before = this.#values.size;
    this.#values.set(text, value);
    if (this.#values.size !== before) this.#keys.add(text);
  }

  /** All changes in the order of each key's first write. */
  entries(): IterableIterator<[string, Uint8Array | null]> {
    return this.#values.entries();
  }

  cursor(range: TextRange): OverlayCursor {
    const cursor = new OverlayCursor(this.#values, this.#keys.walk(range), this.#open);
    this.#open.add(cursor);
    return cursor;
  }

  get hasCursors(): boolean {
    return this.#open.size > 0;
  }

  /** Forgets everything; cursors still open become unusable. */
  clear(): void {
    for (const cursor of this.#open) cursor.invalidate();
    this.#open.clear();
    this.#values.clear();
    this.#keys.clear();
  }
}

/** Walks the keys an overlay knows, deleted ones included. Older values of keys written since are kept aside. */
export class OverlayCursor {
  text = "";
  value: Known;
  readonly #live: ReadonlyMap<string, Uint8Array | null>;
  readonly #walk: KeyWalk;
  readonly #open: Set<OverlayCursor>;
  #older: Map<string, Known> | undefined;
  #valid = true;

  constructor(live: ReadonlyMap<string, Uint8Array | null>, walk: KeyWalk, open: Set<OverlayCursor>) {
    this.#live = live;
    this.#walk = walk;
    this.#open = open;
  }

  /** Moves to the next key known when the cursor was opened. */
  next(): boolean {
    if (!this.#valid) throw new Error("a store iterator was used after its branch was flushed or discarded");
    for (let text = this.#walk.next(); text !== undefined; text = this.#walk.next()) {
      const value = this.#older?.has(text) ? this.#older.get(text) : this.#live.get(text);
      if (value === undefined) continue;
      this.text = text;
      this.value = value;
      return true;
    }
    this.close();
    return false;
  }

  remember(text: string, value: Known): void {
    this.#older ??= new Map();
    if (!this.#older.has(text)) this.#older.set(text, value);
  }

  invalidate(): void {
    this.#valid = false;
  }

  close(): void {
    this.#open.delete(this);
  }
}
