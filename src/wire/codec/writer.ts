const utf8 = new TextEncoder();
const INITIAL_SIZE = 4096;
/** A larger buffer is given back after use. */
const KEPT_SIZE = 1 << 20;
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;

/**
 * Writes from the end of the buffer to its front, so that the length of a nested message is known when it is written
 * and one pass is enough. Callers write the last field first.
 */
export class BackwardWriter {
  #buffer = new Uint8Array(INITIAL_SIZE);
  #position = INITIAL_SIZE;

  /** Bytes written so far; the difference of two readings is the size of the part between them. */
  get written(): number {
    return this.#buffer.length - this.#position;
  }

  uint32(value: number): void {
    this.#reserve(5);
    let size = 1;
    for (let rest = value >>> 7; rest !== 0; rest >>>= 7) size += 1;
    this.#position -= size;
    let at = this.#position;
    let rest = value;
    for (; size > 1; size--) {
      this.#buffer[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[at] = rest;
  }

  /** A varint of up to 64 bits; the caller has brought the value into 0 ... 2^64-1. */
  uint64(value: bigint): void {
    if (value <= 0xffffffffn) {
      this.uint32(Number(value));
      return;
    }
    const groups: number[] = [];
    for (let rest = value; rest > 0n; rest >>= 7n) groups.push(Number(rest & 0x7fn));
    this.#reserve(groups.length);
    this.#position -= groups.length;
    groups.forEach((group, i) => {
      this.#buffer[this.#position + i] = i === groups.length - 1 ? group : group | 0x80;
    });
  }

  fixed(value: bigint, size: 4 | 8): void {
    this.#reserve(size);
    this.#position -= size;
    for (let i = 0; i < size; i++) this.#buffer[this.#position + i] = Number((value >> BigInt(8 * i)) & 0xffn);
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#position -= value.length;
    this.#buffer.set(value, this.#position);
  }

  string(value: string): void {
    if (this.#ascii(value)) return;
    if (LONE_SURROGATE.test(value)) throw new Error("the text is not valid Unicode");
    this.bytes(utf8.encode(value));
  }

  /** Text that may be cut in the middle of a character, whose half becomes U+FFFD. */
  cutString(value: string): void {
    if (!this.#ascii(value)) this.bytes(utf8.encode(value));
  }

  /** Whether the text was ASCII and is written. */
  #ascii(value: string): boolean {
    this.#reserve(value.length);
    let at = this.#position;
    for (let i = value.length - 1; i >= 0; i--) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      this.#buffer[--at] = code;
    }
    this.#position = at;
    return true;
  }

  /** A copy of the written bytes; the writer is empty again. */
  finish(): Uint8Array {
    const result = this.#buffer.slice(this.#position);
    this.reset();
    return result;
  }

  reset(): void {
    if (this.#buffer.length > KEPT_SIZE) this.#buffer = new Uint8Array(INITIAL_SIZE);
    this.#position = this.#buffer.length;
  }

  #reserve(size: number): void {
    if (this.#position >= size) return;
    const written = this.written;
    const grown = new Uint8Array(Math.max(this.#buffer.length * 2, written + size));
    grown.set(this.#buffer.subarray(this.#position), grown.length - written);
    this.#buffer = grown;
    this.#position = grown.length - written;
  }
}
