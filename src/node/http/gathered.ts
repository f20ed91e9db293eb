import { lendMemory, returnMemory } from "./lent-memory.ts";

/** A first part of so many bytes is put into pieces at once: the rest may never come. */
const LARGE_BYTES = 4 * 1024;
/** All other parts are put together in pieces of this size. */
const PIECE_BYTES = 64 * 1024;

/**
 * The bytes of a request that comes in parts. They are put together in lent memory: each part alone would take hundreds of
 * bytes more, and a client may make parts of one byte.
 */
export class Gathered {
  /** The only part so far, if it is small. */
  #first: Buffer | undefined;
  #pieces: Buffer[] = [];
  /** Of the last piece. */
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(part: Buffer): void {
    const isFirst = this.#length === 0;
    this.#length += part.length;
    if (isFirst && part.length < LARGE_BYTES) {
      // A part of much that was read at once would keep all of it.
      this.#first = Buffer.from(part);
      return;
    }
    if (this.#first !== undefined) this.#append(this.#first);
    this.#first = undefined;
    this.#append(part);
  }

  /** All of them in one piece; nothing is held any more. */
  bytes(): Buffer {
    const whole = this.#first ?? Buffer.concat(this.#pieces, this.#length);
    this.release();
    return whole;
  }

  /** Gives back the memory of what will not be used. */
  release(): void {
    for (const piece of this.#pieces) returnMemory(piece);
    this.#pieces = [];
    this.#first = undefined;
    this.#used = 0;
    this.#length = 0;
  }

  #append(part: Buffer): void {
    for (let at = 0; at < part.length; ) {
      const copied = part.copy(this.#piece(), this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  /** The last piece, with room. Its pages are taken from the system as they are used. */
  #piece(): Buffer {
    const last = this.#pieces.at(-1);
    if (last !== undefined && this.#used < PIECE_BYTES) return last;
    const piece = lendMemory(PIECE_BYTES);
    this.#pieces.push(piece);
    this.#used = 0;
    return piece;
  }
}
