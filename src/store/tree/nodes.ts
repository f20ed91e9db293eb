import { HASH_BYTES } from "./hash.ts";

/**
 * Memory of a tree's nodes: plain bytes in segments, because a million small objects would cost several times more and
 * slow every garbage collection. Slots are numbered from 1; freed slots are used again. Segments are small because most
 * stores are.
 */
const SEGMENT_BITS = 8;
const SEGMENT = 1 << SEGMENT_BITS;
const MASK = SEGMENT - 1;

/** Hands out slot numbers. */
class Slots {
  #next = 1;
  readonly #free: number[] = [];

  take(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    this.#next += 1;
    return this.#next - 1;
  }

  give(slot: number): void {
    this.#free.push(slot);
  }

  get used(): number {
    return this.#next - 1 - this.#free.length;
  }
}

/** 32 bytes for each slot. */
class HashColumn {
  readonly #segments: Buffer[] = [];

  /** The segment that holds a slot; the slot's bytes begin at `hashOffset(slot)`. */
  segment(slot: number): Buffer {
    const index = slot >>> SEGMENT_BITS;
    while (this.#segments.length <= index) this.#segments.push(Buffer.allocUnsafeSlow(SEGMENT * HASH_BYTES));
    // The loop above made it.
    return this.#segments[index] as Buffer;
  }
}

export function hashOffset(slot: number): number {
  return (slot & MASK) * HASH_BYTES;
}

/** Leaves: the hash of the key (its path) and the hash of the leaf. */
export class Leaves {
  readonly #slots = new Slots();
  readonly paths = new HashColumn();
  readonly hashes = new HashColumn();

  take(): number {
    return this.#slots.take();
  }

  give(slot: number): void {
    this.#slots.give(slot);
  }

  get used(): number {
    return this.#slots.used;
  }

  /** Bit `depth` of a leaf's path, the most significant bit of the first byte first. */
  bit(slot: number, depth: number): number {
    const byte = this.paths.segment(slot)[hashOffset(slot) + (depth >>> 3)] ?? 0;
    return (byte >>> (7 - (depth & 7))) & 1;
  }

  /** A copy of a leaf's path. */
  path(slot: number): Buffer {
    const at = hashOffset(slot);
    const copy = Buffer.allocUnsafe(HASH_BYTES);
    this.paths.segment(slot).copy(copy, 0, at, at + HASH_BYTES);
    return copy;
  }

  samePath(a: number, b: number): boolean {
    return equalAt(this.paths, a, b);
  }

  sameHash(a: number, b: number): boolean {
    return equalAt(this.hashes, a, b);
  }
}

/** Inner nodes: their hash and two children. */
export class Inners {
  readonly #slots = new Slots();
  readonly hashes = new HashColumn();
  readonly #children: Int32Array[] = [];

  take(left: number, right: number): number {
    const slot = this.#slots.take();
    const index = slot >>> SEGMENT_BITS;
    while (this.#children.length <= index) this.#children.push(new Int32Array(SEGMENT * 2));
    const segment = this.#children[index];
    if (segment !== undefined) {
      segment[(slot & MASK) * 2] = left;
      segment[(slot & MASK) * 2 + 1] = right;
    }
    return slot;
  }

  give(slot: number): void {
    this.#slots.give(slot);
  }

  get used(): number {
    return this.#slots.used;
  }

  left(slot: number): number {
    return this.#children[slot >>> SEGMENT_BITS]?.[(slot & MASK) * 2] ?? 0;
  }

  right(slot: number): number {
    return this.#children[slot >>> SEGMENT_BITS]?.[(slot & MASK) * 2 + 1] ?? 0;
  }
}

function equalAt(column: HashColumn, a: number, b: number): boolean {
  const at = hashOffset(a);
  const other = hashOffset(b);
  return column.segment(a).compare(column.segment(b), other, other + HASH_BYTES, at, at + HASH_BYTES) === 0;
}
