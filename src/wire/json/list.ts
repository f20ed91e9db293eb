import type { JsonValue } from "./value.ts";

/** A list of a JSON file whose items are read on demand, some at a time, and not kept: there may be a million. */
export class JsonList implements Iterable<JsonValue> {
  readonly #parts: () => Iterable<readonly JsonValue[]>;

  /** `parts` reads the items from the first one on; it is called for every walk. */
  constructor(parts: () => Iterable<readonly JsonValue[]>) {
    this.#parts = parts;
  }

  *[Symbol.iterator](): IterableIterator<JsonValue> {
    for (const items of this.#parts()) yield* items;
  }

  /** All items at once, as `JSON.stringify` needs them. */
  toJSON(): JsonValue[] {
    return [...this];
  }
}
