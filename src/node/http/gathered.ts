/** A part of so many bytes is kept as it came. */
const LARGE_BYTES = 4 * 1024;
/** Smaller ones are put together in pieces of this size. */
const PIECE_BYTES = 8 * 1024;

/**
 * The bytes of a request that comes in parts. Small parts are put together: each alone would take hundreds of bytes more, and
 * a client may make parts of one byte.
 */
export class Gathered {
  readonly #parts: Buffer[] = [];
  /** What small parts are put into. */
  #piece: Buffer | undefined;
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(part: Buffer): void {
    this.#length += part.length;
    if (part.length >= LARGE_BYTES) this.#keep(ownPart(part));
    else if (this.#length === part.length) this.#keep(Buffer.from(part));
    else this.#append(part);
  }

  /** All of them in one piece. */
  bytes(): Buffer {
    this.#endPiece();
    const [first] = this.#parts;
    return this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
  }

  #keep(part: Buffer): void {
    this.#endPiece();
    this.#parts.push(part);
  }

  #append(part: Buffer): void {
    if (this.#used + part.length > PIECE_BYTES) this.#endPiece();
    this.#piece ??= Buffer.allocUnsafeSlow(PIECE_BYTES);
    this.#used += part.copy(this.#piece, this.#used);
  }

  #endPiece(): void {
    if (this.#piece !== undefined) this.#parts.push(this.#piece.subarray(0, this.#used));
    this.#piece = undefined;
    this.#used = 0;
  }
}

/** A part of much that was read at once would keep all of it. */
function ownPart(part: Buffer): Buffer {
  return part.length < part.buffer.byteLength / 2 ? Buffer.from(part) : part;
}
