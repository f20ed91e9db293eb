import { hash } from "node:crypto";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { type Database, prefixRange, type Range, type Write } from "../../../store/index.ts";
import { bytesToUint64, uint64ToBytes } from "../../../util/index.ts";

/**
 * Where every indexed attribute value occurs.
 *
 * A term (kind, attribute and value, hashed) has one entry per block it occurs in, listing the transactions; so a
 * value that all transactions of a block share costs one write. Entries are grouped by epochs of about 65,000 of them:
 * writing touches only the newest epoch's pages, however large the index is, and a look-up visits each epoch once.
 */

/** Epoch (4 bytes), term (10), height less the epoch's first (4) -> indexes of transactions, as differences. */
const TERMS = "index/terms";
/** Epoch (4 bytes) -> its first height (8). */
const EPOCHS = "index/epochs";
export const POSTING_TABLES: readonly string[] = [TERMS, EPOCHS];

const TERM_BYTES = 10;
const EPOCH_ENTRIES = 65_536;
/** Maximum bytes of a difference of two indexes. */
const MAX_VARINT32 = 5;

/** Whether a value is an attribute of a transaction or of a block. */
export type TermKind = "tx" | "block";

interface Epoch {
  readonly number: number;
  readonly first: bigint;
}

/** Heights, both included. */
export interface Heights {
  readonly from: bigint;
  readonly to: bigint;
}

/** One block's occurrences of a term. */
export interface Posting {
  readonly height: bigint;
  /** Ascending; empty for block terms. */
  readonly indexes: readonly number[];
}

/** Text of a term, and the transactions of a block in which it occurs, ascending. */
export type Term = readonly [text: string, indexes: readonly number[]];

/** The text of a term: an attribute with a value, or only the attribute. */
export function termText(kind: TermKind, key: string, value?: string): string {
  return value === undefined ? `${kind}\0${key}` : `${kind}\0${key}\0${value}`;
}

/** The postings on disk, written by this process or another one. */
export class PostingsReader {
  protected readonly tables: Pick<Database, "table">;

  constructor(tables: Pick<Database, "table">) {
    this.tables = tables;
  }

  /** Occurrences of a term within some heights, in order of height. */
  *find(text: string, heights: Heights): Generator<Posting> {
    const term = termOf(text);
    const epochs = this.epochs();
    for (const [i, epoch] of epochs.entries()) {
      const next = epochs[i + 1];
      if (epoch.first > heights.to || (next !== undefined && next.first <= heights.from)) continue;
      yield* this.#findInEpoch(epoch, term, heights);
    }
  }

  /** The writes that remove the terms of the last block. */
  removals(height: bigint, terms: readonly Term[]): Write[] {
    const epoch = this.epochs().findLast(({ first }) => first <= height);
    if (epoch === undefined) return [];
    const writes: Write[] = [];
    for (const [text] of terms) writes.push({ table: TERMS, key: entryKey(epoch, termOf(text), height), value: null });
    if (epoch.first === height) writes.push({ table: EPOCHS, key: uint32ToBytes(epoch.number), value: null });
    return writes;
  }

  protected epochs(): readonly Epoch[] {
    return [...this.tables.table(EPOCHS).iterate()].map(([key, value]) => ({
      number: Buffer.from(key).readUInt32BE(),
      first: bytesToUint64(value),
    }));
  }

  *#findInEpoch(epoch: Epoch, term: string, heights: Heights): Generator<Posting> {
    const range: Range = { start: entryKey(epoch, term, heights.from), end: entryKey(epoch, term, heights.to + 1n) };
    for (const [key, value] of this.tables.table(TERMS).iterate(range)) {
      const offset = Buffer.from(key.buffer, key.byteOffset, key.length).readUInt32BE(4 + TERM_BYTES);
      yield { height: epoch.first + BigInt(offset), indexes: decodeIndexes(value) };
    }
  }
}

/** The postings for their only writer. */
export class Postings extends PostingsReader {
  readonly #epochs: Epoch[];
  #entries = 0;

  constructor(tables: Pick<Database, "table">) {
    super(tables);
    this.#epochs = [...super.epochs()];
  }

  /** The writes for a block's terms; they must become durable, or the process must end. */
  writes(height: bigint, terms: readonly Term[]): Write[] {
    if (terms.length === 0) return [];
    const writes: Write[] = [];
    const epoch = this.#epochFor(height, writes);
    this.#entries += terms.length;
    for (const [text, indexes] of terms) {
      writes.push({ table: TERMS, key: entryKey(epoch, termOf(text), height), value: encodeIndexes(indexes) });
    }
    return writes;
  }

  /**
   * The writes that remove entries of whole epochs below a height, at most so many. They must become durable, or the
   * process must end.
   */
  oldest(height: bigint, most: number): Write[] {
    const [first, next] = this.#epochs;
    if (first === undefined || next === undefined || next.first > height) return [];
    const number = uint32ToBytes(first.number);
    const writes: Write[] = [];
    for (const [key] of this.tables.table(TERMS).iterate(prefixRange(number))) {
      if (writes.length >= most) return writes;
      writes.push({ table: TERMS, key, value: null });
    }
    this.#epochs.shift();
    writes.push({ table: EPOCHS, key: number, value: null });
    return writes;
  }

  protected override epochs(): readonly Epoch[] {
    return this.#epochs;
  }

  #epochFor(height: bigint, writes: Write[]): Epoch {
    const newest = this.#epochs.at(-1);
    if (newest !== undefined && this.#entries < EPOCH_ENTRIES && height - newest.first < 0xffff_ffffn) return newest;
    const epoch = { number: (newest?.number ?? -1) + 1, first: height };
    this.#epochs.push(epoch);
    this.#entries = 0;
    writes.push({ table: EPOCHS, key: uint32ToBytes(epoch.number), value: uint64ToBytes(height) });
    return epoch;
  }
}

/** The bytes of a term as latin-1 text: a hash as text costs a third of one as a Buffer. */
function termOf(text: string): string {
  return hash("sha256", text, "binary").slice(0, TERM_BYTES);
}

function entryKey(epoch: Epoch, term: string, height: bigint): Uint8Array {
  const key = Buffer.allocUnsafe(8 + TERM_BYTES);
  key.writeUInt32BE(epoch.number);
  key.write(term, 4, TERM_BYTES, "latin1");
  const offset = Number(height - epoch.first);
  key.writeUInt32BE(Math.min(Math.max(offset, 0), 0xffff_ffff), 4 + TERM_BYTES);
  return key;
}

function uint32ToBytes(value: number): Uint8Array {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}

function encodeIndexes(indexes: readonly number[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(indexes.length * MAX_VARINT32);
  let [length, before] = [0, 0];
  for (const index of indexes) {
    let rest = index - before;
    for (; rest > 0x7f; rest >>>= 7) bytes[length++] = (rest & 0x7f) | 0x80;
    bytes[length++] = rest;
    before = index;
  }
  return bytes.subarray(0, length);
}

function decodeIndexes(bytes: Uint8Array): number[] {
  const reader = new BinaryReader(bytes);
  const indexes: number[] = [];
  let before = 0;
  while (reader.pos < reader.len) {
    before += reader.uint32();
    indexes.push(before);
  }
  return indexes;
}
