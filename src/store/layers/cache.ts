import type { KVReader, KVStore } from "../kv.ts";
import { Overlay, type OverlayCursor } from "./overlay.ts";
import {
  asTextReader,
  type TextCursor,
  type TextRange,
  type TextReader,
  TextStore,
  textKey,
  textRange,
} from "./text.ts";

/** A change to one key; `null` deletes. */
export type Change = [key: Uint8Array, value: Uint8Array | null];

/**
 * Changes held over another store: reads fall through to the parent, writes stay here until `flush` hands them to the
 * parent or `discard` forgets them. Branches nest. While a branch is open its parent is not written directly.
 */
export class CacheStore extends TextStore {
  readonly #parent: TextReader;
  readonly #target: TextStore | KVStore | undefined;
  readonly #own = new Overlay();

  /** `parent` takes the flush when it can be written; over a plain reader the changes are taken with `changes()`. */
  constructor(parent: KVReader | KVStore) {
    super();
    this.#parent = asTextReader(parent);
    this.#target = "set" in parent ? parent : undefined;
  }

  read(text: string, key: Uint8Array): Uint8Array | undefined {
    const own = this.#own.get(text);
    if (own !== undefined) return own ?? undefined;
    return this.#parent.read(text, key);
  }

  write(text: string, value: Uint8Array | null): void {
    this.#own.put(text, value);
  }

  cursor(range: TextRange): TextCursor {
    if (this.#own.size === 0) return this.#parent.cursor(range);
    return new MergedCursor(this.#parent.cursor(range), this.#own.cursor(range), range.reverse);
  }

  /** A further store over this one. */
  branch(): CacheStore {
    return new CacheStore(this);
  }

  /** Hands all changes to the parent and starts empty. Throws when the parent is only a reader. */
  flush(): void {
    const target = this.#target;
    if (target === undefined) throw new Error("this store has no parent that can be written");
    for (const [text, value] of this.#own.entries()) {
      if (target instanceof TextStore) target.write(text, value);
      else if (value === null) target.delete(textKey(text));
      else target.set(textKey(text), value);
    }
    this.#own.clear();
  }

  discard(): void {
    this.#own.clear();
  }

  /** Number of keys changed. */
  get changeCount(): number {
    return this.#own.size;
  }

  /** Whether the key of this text was changed here. */
  holds(text: string): boolean {
    return this.#own.get(text) !== undefined;
  }

  /** The changes held now, in no particular order. */
  *changes(): IterableIterator<Change> {
    for (const [text, value] of this.#own.entries()) yield [textKey(text), value];
  }

  /** The changes in the order of their keys, which a database writes fastest. */
  sortedChanges(): ListedChanges {
    const changes = new ListedChanges();
    const cursor = this.#own.cursor(textRange());
    while (cursor.next()) changes.add(cursor.text, cursor.value ?? null);
    return changes;
  }
}

/**
 * Very many changes: their keys stay the texts that they are in the layers, and are made bytes when they are asked for,
 * because arrays of bytes take several times as much.
 */
export class ListedChanges implements Iterable<Change> {
  readonly #texts: string[] = [];
  readonly #values: (Uint8Array | null)[] = [];

  get length(): number {
    return this.#texts.length;
  }

  add(text: string, value: Uint8Array | null): void {
    this.#texts.push(text);
    this.#values.push(value);
  }

  keyAt(index: number): Uint8Array {
    return textKey(this.#texts[index] ?? "");
  }

  *[Symbol.iterator](): IterableIterator<Change> {
    for (let i = 0; i < this.length; i++) yield [this.keyAt(i), this.#values[i] ?? null];
  }
}

/** Merges a parent's entries with own changes: an own change hides the parent's entry of the same key. */
class MergedCursor implements TextCursor {
  text = "";
  value: Uint8Array = new Uint8Array(0);
  readonly #parent: TextCursor;
  readonly #own: OverlayCursor;
  readonly #reverse: boolean;
  #inParent: boolean | undefined;
  #inOwn: boolean | undefined;

  constructor(parent: TextCursor, own: OverlayCursor, reverse: boolean) {
    this.#parent = parent;
    this.#own = own;
    this.#reverse = reverse;
  }

  next(): boolean {
    for (;;) {
      this.#inParent ??= this.#parent.next();
      this.#inOwn ??= this.#own.next();
      if (!this.#inOwn) return this.#inParent && this.#takeParent();
      if (this.#inParent) {
        if (this.#parentIsFirst()) return this.#takeParent();
        if (this.#parent.text === this.#own.text) this.#inParent = undefined;
      }
      if (this.#takeOwn()) return true;
    }
  }

  close(): void {
    this.#parent.close();
    this.#own.close();
  }

  #parentIsFirst(): boolean {
    return this.#reverse ? this.#parent.text > this.#own.text : this.#parent.text < this.#own.text;
  }

  #takeParent(): boolean {
    this.text = this.#parent.text;
    this.value = this.#parent.value;
    this.#inParent = undefined;
    return true;
  }

  #takeOwn(): boolean {
    this.#inOwn = undefined;
    const { text, value } = this.#own;
    if (value === null || value === undefined) return false;
    this.text = text;
    this.value = value;
    return true;
  }
}
