import { sdkErrors } from "../../util/index.ts";
import { JsonList } from "./list.ts";
import type { JsonObject, JsonValue } from "./value.ts";

/** Deepest nesting that `readJson` accepts. */
export const MAX_JSON_DEPTH = 128;

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const WORD = /true|false|null/y;
const WORDS: Readonly<Record<string, null | boolean>> = { true: true, false: false, null: null };

/**
 * Reads JSON text without losing or hiding anything: a duplicate key, an integer that a double cannot hold and
 * the key `__proto__` are errors. Throws `sdkErrors.jsonUnmarshal`.
 */
export function readJson(text: string): JsonValue {
  const reader = new JsonReader(text);
  const value = reader.value(0);
  reader.finish();
  return value;
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonValue {
    if (depth > MAX_JSON_DEPTH) this.#fail("the values are nested too deeply");
    this.#take(SPACE);
    const first = this.#text[this.#at];
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#array(depth);
    if (first === '"') return this.#string();
    const word = this.#take(WORD);
    if (word !== undefined) return WORDS[word] ?? null;
    return this.#number();
  }

  finish(): void {
    this.#take(SPACE);
    if (this.#at < this.#text.length) this.#fail("something follows the value");
  }

  #object(depth: number): JsonObject {
    const object: Record<string, JsonValue> = {};
    this.#items("}", () => {
      const key = this.#string();
      if (key === "__proto__" || Object.hasOwn(object, key)) this.#fail(`the key ${JSON.stringify(key)} appears twice`);
      this.#take(SPACE);
      this.#expect(":");
      object[key] = this.value(depth + 1);
    });
    return object;
  }

  #array(depth: number): JsonValue[] {
    const list: JsonValue[] = [];
    this.#items("]", () => list.push(this.value(depth + 1)));
    return list;
  }

  #items(close: string, item: () => void): void {
    this.#at += 1;
    this.#take(SPACE);
    if (this.#text[this.#at] === close) {
      this.#at += 1;
      return;
    }
    for (;;) {
      this.#take(SPACE);
      item();
      this.#take(SPACE);
      if (this.#text[this.#at] !== ",") break;
      this.#at += 1;
    }
    this.#expect(close);
  }

  #string(): string {
    const token = this.#take(STRING);
    if (token === undefined) this.#fail("a string in double quotes was expected");
    try {
      const text: string = JSON.parse(token);
      return text;
    } catch {
      return this.#fail("the string holds a line break, a control character or an unknown escape");
    }
  }

  #number(): number {
    const token = this.#take(NUMBER);
    if (token === undefined) this.#fail("a value was expected");
    const value = Number(token);
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      this.#fail(`the number ${token.slice(0, 40)} is too large for JSON, write it in quotes`);
    }
    return value;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match[0];
  }

  #expect(character: string): void {
    if (this.#text[this.#at] !== character) this.#fail(`"${character}" was expected`);
    this.#at += 1;
  }

  #fail(why: string): never {
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const column = this.#at - before.lastIndexOf("\n");
    throw sdkErrors.jsonUnmarshal(`invalid JSON in line ${line}, column ${column}: ${why}`);
  }
}

const HTML = /[<>&\u2028\u2029]/g;
const LINE_SEPARATORS = /[\u2028\u2029]/g;

export interface PrintOptions {
  /** Escape `<`, `>` and `&`, as command lines and sign documents of the ecosystem do. Default true. */
  readonly escapeHtml?: boolean;
  /** Spaces of indentation; 0 prints one line. */
  readonly indent?: number;
}

/** JSON text in the manner of the ecosystem: line separators are always escaped, HTML characters unless told not to. */
export function printJson(value: JsonValue, options: PrintOptions = {}): string {
  const pattern = options.escapeHtml === false ? LINE_SEPARATORS : HTML;
  return JSON.stringify(value, undefined, options.indent).replace(pattern, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The same value with the keys of all objects in order. */
export function sortJson(value: JsonValue | JsonList): JsonValue {
  if (value instanceof JsonList) return Array.from(value, sortJson);
  if (isArray(value)) return value.map(sortJson);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortJson(value[key] ?? null)]));
}

/** Items of a list that `writeSortedJson` prints together: one call each would take twice as long. */
const ITEMS_AT_ONCE = 256;

/** Writes the text of the same value with its keys in order, in parts: long lists need no second copy. */
export function writeSortedJson(value: JsonValue | JsonList, add: (text: string) => void): void {
  if (value instanceof JsonList || isArray(value)) {
    add("[");
    writeItems(value, add);
    add("]");
  } else if (isObject(value)) {
    add("{");
    for (const [i, key] of Object.keys(value).sort().entries()) {
      add(`${i === 0 ? "" : ","}${printJson(key)}:`);
      writeSortedJson(value[key] ?? null, add);
    }
    add("}");
  } else add(printJson(value));
}

function writeItems(items: Iterable<JsonValue>, add: (text: string) => void): void {
  let waiting: JsonValue[] = [];
  let separator = "";
  const flush = () => {
    if (waiting.length === 0) return;
    add(separator + printJson(waiting).slice(1, -1));
    separator = ",";
    waiting = [];
  };
  for (const item of items) {
    waiting.push(sortJson(item));
    if (waiting.length === ITEMS_AT_ONCE) flush();
  }
  flush();
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonList);
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
