import type { KVReader } from "../kv.ts";
import { asTextReader, type TextCursor, type TextRange, TextReader } from "./text.ts";

/** Entries of one generation; at most two generations are kept. */
const GENERATION = 1 << 15;

/**
 * A reader that remembers what was read, absent keys included. When a generation is full the older one is dropped;
 * an entry read from the older one moves to the newer. It changes no answer, so nodes need not agree on its content.
 */
export class ReadCache extends TextReader {
  readonly #source: TextReader;
  #young = new Map<string, Uint8Array | null>();
  #old = new Map<string, Uint8Array | null>();

  constructor(source: KVReader) {
    super();
    this.#source = asTextReader(source);
  }

  read(text: string, key: Uint8Array): Uint8Array | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young ?? undefined;
    const old = this.#old.get(text);
    const value = old === undefined ? (this.#source.read(text, key) ?? null) : old;
    this.put(text, value);
    return value ?? undefined;
  }

  cursor(range: TextRange): TextCursor {
    return this.#source.cursor(range);
  }

  /** Notes what the source now holds; to be called for every change of the source. */
  put(text: string, value: Uint8Array | null): void {
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, value);
  }
}
