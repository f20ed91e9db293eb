import type { ErrorFactory } from "../../util/index.ts";

/** Wire types of the protobuf encoding; groups (3, 4) are not used by any message here. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;
export const FIXED32 = 5;

// A leading byte order mark is content, not decoration: it is signed.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const SHORT_STRING = 256;
/** Short texts read lately, by a hash: addresses, denominations and types repeat, and a shared text costs no memory. */
const KNOWN_TEXTS = 1 << 12;
const known: string[] = new Array<string>(KNOWN_TEXTS).fill("");

/** How a reader treats what a liberal decoder would let pass. */
export interface ReaderOptions {
  /** Refuse unknown and repeated fields, overlong varints, out-of-range numbers, unknown enum values. */
  readonly strict: boolean;
  /** Error for anything malformed. */
  readonly error: ErrorFactory;
  /** Name of the message being read, for the position in hints. */
  readonly label: string;
  /** Byte strings are views of the source, which does not change. */
  readonly views?: boolean | undefined;
}

/** Reads protobuf primitives; `low` and `high` hold the halves of the last varint. */
export class WireReader {
  readonly bytes: Uint8Array;
  readonly strict: boolean;
  position = 0;
  /** Where the message that is being read ends. */
  end: number;
  /** Messages around the position. */
  depth = 0;
  low = 0;
  high = 0;
  readonly #error: ErrorFactory;
  readonly #label: string;
  readonly #views: boolean;

  constructor(bytes: Uint8Array, options: ReaderOptions) {
    this.bytes = bytes;
    this.end = bytes.length;
    this.strict = options.strict;
    this.#error = options.error;
    this.#label = options.label;
    this.#views = options.views === true;
  }

  fail(detail: string): never {
    throw this.#error(detail, { hint: `see byte ${this.position} of ${this.#label}` });
  }

  /** Field number and wire type, as written: `(number << 3) | type`. */
  tag(): number {
    this.varint();
    if (this.high !== 0 || this.low >>> 3 === 0) this.fail("invalid length");
    return this.low;
  }

  varint(): void {
    const first = this.bytes[this.position] ?? 0x80;
    if (first < 0x80 && this.position < this.end) {
      this.position += 1;
      this.low = first;
      this.high = 0;
      return;
    }
    this.#longVarint();
  }

  /** The last varint as an unsigned 64-bit number. */
  uint64(): bigint {
    return this.high === 0 ? BigInt(this.low) : (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  /** Reads a length and returns where the content ends. */
  limit(): number {
    this.varint();
    const stop = this.position + this.low;
    if (this.high !== 0 || stop > this.end) this.fail("invalid length");
    return stop;
  }

  /** Enters the content whose length comes next; returns the end to go back to. */
  enter(): number {
    const outer = this.end;
    this.end = this.limit();
    return outer;
  }

  /** Goes back to the surrounding message; the content must have been read to its end. */
  leave(outer: number): void {
    if (this.position !== this.end) this.fail("invalid length");
    this.end = outer;
  }

  /** A copy unless the reader gives views: the source may be a buffer that others write to. */
  takeBytes(): Uint8Array {
    const stop = this.limit();
    const part = this.bytes.subarray(this.position, stop);
    const value = this.#views ? part : new Uint8Array(part);
    this.position = stop;
    return value;
  }

  takeString(): string {
    const stop = this.limit();
    const text = this.#text(this.position, stop);
    this.position = stop;
    return text;
  }

  fixed(size: 4 | 8): bigint {
    if (this.position + size > this.end) this.fail("invalid length");
    let value = 0n;
    for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(this.bytes[this.position + i] ?? 0);
    this.position += size;
    return value;
  }

  skip(wireType: number): void {
    if (wireType === VARINT) this.varint();
    else if (wireType === LENGTH_DELIMITED) this.position = this.limit();
    else if (wireType === FIXED64) this.fixed(8);
    else if (wireType === FIXED32) this.fixed(4);
    else this.fail(`wire type ${wireType} is not allowed`);
  }

  #longVarint(): void {
    let low = 0;
    let high = 0;
    for (let i = 0; i < 10; i++) {
      if (this.position >= this.end) this.fail("invalid length");
      const byte = this.bytes[this.position++] ?? 0;
      const bits = byte & 0x7f;
      if (i < 4) low |= bits << (7 * i);
      else if (i === 4) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (7 * i - 32);
      if (byte >= 0x80) continue;
      if (i === 9 && byte > 1) this.fail("varint overflow");
      if (this.strict && i > 0 && byte === 0) this.fail("non-minimal varint");
      this.low = low >>> 0;
      this.high = high >>> 0;
      return;
    }
    this.fail("varint overflow");
  }

  #text(start: number, stop: number): string {
    if (stop - start > SHORT_STRING) return this.#decode(start, stop);
    let hash = 0;
    for (let i = start; i < stop; i++) {
      const byte = this.bytes[i] ?? 0;
      if (byte > 0x7f) return this.#decode(start, stop);
      hash = (hash * 31 + byte) | 0;
    }
    const place = (hash ^ (hash >>> 12)) & (KNOWN_TEXTS - 1);
    const text = known[place] ?? "";
    if (this.#holds(text, start, stop)) return text;
    const made = Reflect.apply(String.fromCharCode, null, this.bytes.subarray(start, stop));
    known[place] = made;
    return made;
  }

  /** Whether the bytes are this text. */
  #holds(text: string, start: number, stop: number): boolean {
    if (text.length !== stop - start) return false;
    for (let i = start; i < stop; i++) if (text.charCodeAt(i - start) !== this.bytes[i]) return false;
    return true;
  }

  #decode(start: number, stop: number): string {
    try {
      return utf8.decode(this.bytes.subarray(start, stop));
    } catch {
      this.fail("text is not valid UTF-8");
    }
  }
}
