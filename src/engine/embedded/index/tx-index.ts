import type { AppEvent, TxResult } from "../../../abci/index.ts";
import type { Database, Write } from "../../../store/index.ts";
import { append, equalBytes } from "../../../util/index.ts";
import type { BlockRecord, ExecutedBlock } from "../blocks/block-records.ts";
import type { BlockReader } from "../blocks/block-store.ts";
import { txHash } from "../blocks/hashes.ts";
import type { ExecutedTx } from "../blocks/tx-rows.ts";
import { POSTING_TABLES, Postings, PostingsReader, type Term, termText } from "./postings.ts";

/** First 16 bytes of a transaction's hash -> height, index. */
const TX_HASHES = "index/txs";
/** First 16 bytes of a block's hash -> height. */
const BLOCK_HASHES = "index/blocks";
export const INDEX_TABLES: readonly string[] = [TX_HASHES, BLOCK_HASHES, ...POSTING_TABLES];

const HASH_BYTES = 16;

/** A committed transaction. */
export interface FoundTx extends ExecutedTx {
  readonly hash: Uint8Array;
  readonly height: bigint;
  readonly index: number;
}

/** Finds transactions and blocks by hash, and holds the postings that searches use. */
export class TxReader {
  readonly postings: PostingsReader;
  readonly #tables: Pick<Database, "table">;
  readonly #blocks: BlockReader;

  constructor(
    tables: Pick<Database, "table">,
    blocks: BlockReader,
    postings: PostingsReader = new PostingsReader(tables),
  ) {
    this.#tables = tables;
    this.#blocks = blocks;
    this.postings = postings;
  }

  /** The transaction with a hash of 32 bytes. */
  tx(hash: Uint8Array): FoundTx | undefined {
    const place = this.#tables.table(TX_HASHES).get(shortHash(hash));
    if (place === undefined) return undefined;
    const [height, index] = decodePlace(place);
    const found = this.txAt(height, index);
    return found !== undefined && equalBytes(found.hash, hash) ? found : undefined;
  }

  /** Transactions of an executed block whose header is still to come are not found yet. */
  txAt(height: bigint, index: number): FoundTx | undefined {
    if (height > this.#blocks.height) return undefined;
    const found = this.#blocks.tx(height, index);
    return found === undefined ? undefined : { ...found, hash: txHash(found.tx), height, index };
  }

  /** The writes that remove the last block from the index. */
  removals(height: bigint, record: BlockRecord | undefined = this.#blocks.record(height)): Write[] {
    if (record === undefined) return [];
    const txs = this.#blocks.txs(height);
    const terms = blockTerms(record.events, termsOf(txs.map(({ result }) => result)));
    const writes: Write[] = [{ table: BLOCK_HASHES, key: shortHash(record.commit.blockId.hash), value: null }];
    for (const { tx } of txs) writes.push({ table: TX_HASHES, key: shortHash(txHash(tx)), value: null });
    append(writes, this.postings.removals(height, terms));
    return writes;
  }

  /** The writes that remove a transaction of a pruned block from the index; none if it came again in a later block. */
  txRemoval(tx: Uint8Array, height: bigint): Write | undefined {
    const key = shortHash(txHash(tx));
    const place = this.#tables.table(TX_HASHES).get(key);
    return place !== undefined && decodePlace(place)[0] === height ? { table: TX_HASHES, key, value: null } : undefined;
  }

  /** The writes that remove a pruned block from the index. */
  blockRemoval(hash: Uint8Array): Write {
    return { table: BLOCK_HASHES, key: shortHash(hash), value: null };
  }

  /** Height of the block with a hash of 32 bytes. */
  blockHeight(hash: Uint8Array): bigint | undefined {
    const place = this.#tables.table(BLOCK_HASHES).get(shortHash(hash));
    if (place === undefined) return undefined;
    const [height] = decodePlace(place);
    const found = this.#blocks.record(height)?.commit.blockId.hash;
    return found !== undefined && equalBytes(found, hash) ? height : undefined;
  }
}

/** The index for its only writer. */
export class TxIndex extends TxReader {
  readonly #written: Postings;

  constructor(tables: Pick<Database, "table">, blocks: BlockReader) {
    const postings = new Postings(tables);
    super(tables, blocks, postings);
    this.#written = postings;
  }

  /** The writes for a block; `hashes` are the hashes of its transactions, `txs` the terms of their results. */
  writes(executed: ExecutedBlock, hashes: readonly Uint8Array[], txs = termsOf(executed.txResults)): Write[] {
    const { height } = executed.block.header;
    const writes: Write[] = [
      { table: BLOCK_HASHES, key: shortHash(executed.commit.blockId.hash), value: encodePlace(height, 0) },
    ];
    for (const [i, hash] of hashes.entries()) {
      writes.push({ table: TX_HASHES, key: shortHash(hash), value: encodePlace(height, i) });
    }
    append(writes, this.#written.writes(height, blockTerms(executed.events, txs)));
    return writes;
  }

  /** The writes that remove terms that only blocks below a height have, at most so many. */
  termRemovals(height: bigint, most: number): Write[] {
    return this.#written.oldest(height, most);
  }
}

function termsOf(results: readonly TxResult[]): IndexedTerms {
  const terms = new IndexedTerms();
  for (const [i, { events }] of results.entries()) terms.add(events, i);
  return terms;
}

/** Every indexed attribute of a block's transactions and of the block itself, with the transactions it occurs in. */
function blockTerms(events: readonly AppEvent[], txs: IndexedTerms): Term[] {
  const terms: Term[] = [];
  for (const [key, value, indexes] of txs.all()) terms.push([termText("tx", key, value), indexes]);
  const own = new IndexedTerms();
  own.add(events, 0);
  for (const [key, value] of own.all()) terms.push([termText("block", key, value), []]);
  return terms;
}

/** Transactions that have an attribute, and those with each of its values. */
class Places {
  readonly any: number[] = [];
  readonly values = new Map<string, number[]>();
  #last: string | undefined;

  /** Events of a transaction often repeat a value. */
  note(value: string, tx: number): void {
    const isNew = noteIn(this.any, tx);
    if (!isNew && value === this.#last) return;
    this.#last = value;
    const known = this.values.get(value);
    if (known === undefined) this.values.set(value, [tx]);
    else noteIn(known, tx);
  }
}

/** Adds a transaction to an ascending list; answers whether it was missing. */
function noteIn(txs: number[], tx: number): boolean {
  if (txs[txs.length - 1] === tx) return false;
  txs.push(tx);
  return true;
}

/** Indexed attributes with the transactions that they occur in. Most occur often, so each has one text for all places. */
export class IndexedTerms {
  readonly #texts = new Map<string, Places>();
  readonly #types = new Map<string, Map<string, Places>>();

  /** Transactions come in their order. */
  add(events: readonly AppEvent[], tx: number): void {
    for (const { type, attributes } of events) {
      for (const { key, value, index } of attributes) {
        if (!index) continue;
        this.#places(type, key).note(value, tx);
      }
    }
  }

  /** `type.key` and value of each, with its transactions. */
  *all(): IterableIterator<[key: string, value: string | undefined, txs: number[]]> {
    for (const [key, { any, values }] of this.#texts) {
      yield [key, undefined, any];
      for (const [value, txs] of values) yield [key, value, txs];
    }
  }

  #places(type: string, key: string): Places {
    const keys = this.#types.get(type) ?? new Map<string, Places>();
    const known = keys.get(key);
    if (known !== undefined) return known;
    const text = `${type}.${key}`;
    const places = this.#texts.get(text) ?? new Places();
    this.#texts.set(text, places);
    this.#types.set(type, keys.set(key, places));
    return places;
  }
}

/** Calls back with `type.key` and value of every attribute that is marked for the index. */
export function forEachIndexed(events: readonly AppEvent[], visit: (key: string, value: string) => void): void {
  for (const { type, attributes } of events) {
    for (const { key, value, index } of attributes) if (index) visit(`${type}.${key}`, value);
  }
}

function shortHash(hash: Uint8Array): Uint8Array {
  return hash.subarray(0, HASH_BYTES);
}

/** Height (8 bytes), index (4 bytes). */
function encodePlace(height: bigint, index: number): Uint8Array {
  const place = Buffer.allocUnsafe(12);
  place.writeBigUInt64BE(height);
  place.writeUInt32BE(index, 8);
  return place;
}

function decodePlace(bytes: Uint8Array): [height: bigint, index: number] {
  const place = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return [place.readBigUInt64BE(), place.readUInt32BE(8)];
}
