import { type Entry, type KVReader, type KVStore, MAX_KEY_BYTES, MAX_ROW_KEY_BYTES, type Range } from "../kv.ts";

/**
 * Keys in the store folder are latin-1 strings, one character a byte: a `Map` can look them up, and their order is the
 * order of the bytes. Layers pass these texts on, so that a key is converted once and not per layer.
 */
const latin1Slice: (this: Uint8Array, start: number, end: number) => string = Buffer.prototype.latin1Slice;

export function keyText(key: Uint8Array): string {
  return latin1Slice.call(key, 0, key.length);
}

export function textKey(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

/** A range in texts. */
export interface TextRange {
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly reverse: boolean;
}

export function textRange(range: Range = {}): TextRange {
  return {
    start: range.start === undefined ? undefined : keyText(range.start),
    end: range.end === undefined ? undefined : keyText(range.end),
    reverse: range.reverse === true,
  };
}

/** A position in an ordered range: `next` moves on and tells whether `text` and `value` now hold an entry. */
export interface TextCursor {
  readonly text: string;
  readonly value: Uint8Array;
  next(): boolean;
  close(): void;
}

/** A reader whose keys are texts; `read` gets the bytes of the key as well, for a database at the bottom. */
export abstract class TextReader implements KVReader {
  abstract read(text: string, key: Uint8Array): Uint8Array | undefined;
  abstract cursor(range: TextRange): TextCursor;

  get(key: Uint8Array): Uint8Array | undefined {
    return this.read(keyText(key), key);
  }

  has(key: Uint8Array): boolean {
    return this.read(keyText(key), key) !== undefined;
  }

  iterate(range?: Range): IterableIterator<Entry> {
    return new CursorIterator(this.cursor(textRange(range)));
  }
}

/** A text reader that can be written; `null` deletes. */
export abstract class TextStore extends TextReader implements KVStore {
  abstract write(text: string, value: Uint8Array | null): void;

  set(key: Uint8Array, value: Uint8Array): void {
    checkKey(key);
    checkValue(value);
    this.write(keyText(key), value);
  }

  delete(key: Uint8Array): void {
    checkKey(key);
    this.write(keyText(key), null);
  }
}

export function checkKey(key: Uint8Array): void {
  if (key.length === 0 || key.length > MAX_KEY_BYTES)
    throw new Error(`a store key has 1 to ${MAX_KEY_BYTES} bytes, not ${key.length}`);
}

export function checkRowKey(key: Uint8Array): void {
  if (key.length === 0 || key.length > MAX_ROW_KEY_BYTES)
    throw new Error(`the key of a row has 1 to ${MAX_ROW_KEY_BYTES} bytes, not ${key.length}`);
}

/** No proof can show an empty value to others (ICS 23). */
function checkValue(value: Uint8Array): void {
  if (value.length === 0) throw new Error("a store value has at least one byte");
}

/** Shows a cursor as an iterator over bytes. */
class CursorIterator implements IterableIterator<Entry> {
  readonly #cursor: TextCursor;

  constructor(cursor: TextCursor) {
    this.#cursor = cursor;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Entry> {
    if (!this.#cursor.next()) return { done: true, value: undefined };
    return { done: false, value: [textKey(this.#cursor.text), this.#cursor.value] };
  }

  return(): IteratorResult<Entry> {
    this.#cursor.close();
    return { done: true, value: undefined };
  }
}

/** Gives any reader the text interface. */
export function asTextReader(reader: KVReader): TextReader {
  return reader instanceof TextReader ? reader : new ForeignReader(reader);
}

class ForeignReader extends TextReader {
  readonly #reader: KVReader;

  constructor(reader: KVReader) {
    super();
    this.#reader = reader;
  }

  read(_text: string, key: Uint8Array): Uint8Array | undefined {
    return this.#reader.get(key);
  }

  cursor(range: TextRange): TextCursor {
    return new ForeignCursor(this.#reader, range);
  }
}

class ForeignCursor implements TextCursor {
  text = "";
  value: Uint8Array = new Uint8Array(0);
  readonly #entries: IterableIterator<Entry>;

  constructor(reader: KVReader, range: TextRange) {
    this.#entries = reader.iterate({
      start: range.start === undefined ? undefined : textKey(range.start),
      end: range.end === undefined ? undefined : textKey(range.end),
      reverse: range.reverse,
    });
  }

  next(): boolean {
    const step = this.#entries.next();
    if (step.done === true) return false;
    this.text = keyText(step.value[0]);
    this.value = step.value[1];
    return true;
  }

  close(): void {
    this.#entries.return?.();
  }
}
