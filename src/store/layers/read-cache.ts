import { Recent } from "../../util/index.ts";
import type { KVReader } from "../kv.ts";
import { asTextReader, type TextCursor, type TextRange, TextReader } from "./text.ts";

/** Entries of one generation. */
const GENERATION = 1 << 15;

/**
 * A reader that remembers recent reads, absent keys included. It changes no answer, so nodes need not agree on its
 * content.
 */
export class ReadCache extends TextReader {
  readonly #source: TextReader;
  readonly #known = new Recent<string, Uint8Array | null>(GENERATION);

  constructor(source: KVReader) {
    super();
    this.#source = asTextReader(source);
  }

  read(text: string, key: Uint8Array): Uint8Array | undefined {
    const known = this.#known.get(text);
    if (known !== undefined) return known ?? undefined;
    const value = this.#source.read(text, key);
    this.put(text, value ?? null);
    return value;
  }

  cursor(range: TextRange): TextCursor {
    return this.#source.cursor(range);
  }

  /**
   * Notes what the source now holds; must be called for every change of the source that is not reported by `forget`.
   */
  put(text: string, value: Uint8Array | null): void {
    this.#known.set(text, value);
  }

  /** Forgets everything: the source has changed as a whole. */
  forget(): void {
    this.#known.clear();
  }
}
