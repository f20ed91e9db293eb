import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { TxResult } from "../../../abci/index.ts";
import { type Database, deflatedTable, firstEntry, type Range, type Write } from "../../../store/index.ts";
import { bytesToUint64, uint64ToBytes } from "../../../util/index.ts";
import { decodeTxResult, EncodedTxResult, encodeTxResult } from "./codec.ts";

/**
 * Height (8 bytes), index (4 bytes) -> transactions of a block from this index on, in groups so that one is read
 * cheaply.
 */
const TXS = "engine/txs";
/** The same keys -> the results of the transactions: they are several times as large, and seldom read. */
const RESULTS = deflatedTable("engine/results");
export const TX_TABLES: readonly string[] = [TXS, RESULTS];

/** A group ends with so many transactions, or with the one that brings its results to so many bytes. */
const GROUP = { txs: 32, bytes: 64 * 1024 } as const;

export interface ExecutedTx {
  readonly tx: Uint8Array;
  readonly result: TxResult;
}

type Tables = Pick<Database, "table">;

/** The writes that keep the transactions of a block, and their results. */
export function txWrites(height: bigint, txs: readonly Uint8Array[], results: readonly TxResult[]): Write[] {
  const writes: Write[] = [];
  let group: { readonly txs: Uint8Array[]; readonly results: Uint8Array[] } = { txs: [], results: [] };
  let bytes = 0;
  for (const [i, tx] of txs.entries()) {
    const result = results[i];
    if (result === undefined) throw new Error(`transaction ${i} has no result`);
    const encoded = result instanceof EncodedTxResult ? result.bytes : encodeTxResult(result);
    group.txs.push(tx);
    group.results.push(encoded);
    bytes += encoded.length;
    const count = group.txs.length;
    if (count < GROUP.txs && bytes < GROUP.bytes && i + 1 < txs.length) continue;
    const key = rowKey(height, i + 1 - count);
    writes.push({ table: TXS, key, value: joined(group.txs) }, { table: RESULTS, key, value: joined(group.results) });
    group = { txs: [], results: [] };
    bytes = 0;
  }
  return writes;
}

/** Transactions of a block with their results, in order. */
export function readTxs(tables: Tables, height: bigint): ExecutedTx[] {
  const results = rowsOf(tables, RESULTS, height);
  return rowsOf(tables, TXS, height).map((tx, i) => executed(tx, results[i]));
}

/** Transactions of a block in their order. */
export function readTxBytes(tables: Tables, height: bigint): Uint8Array[] {
  return rowsOf(tables, TXS, height);
}

export function readTx(tables: Tables, height: bigint, index: number): ExecutedTx | undefined {
  const range = { start: rowKey(height, 0), end: rowKey(height, index + 1), reverse: true };
  const [key, group] = firstEntry(tables.table(TXS), range) ?? [];
  if (key === undefined || group === undefined) return undefined;
  const place = index - asBuffer(key).readUInt32BE(8);
  const tx = split(group)[place];
  if (tx === undefined) return undefined;
  return executed(tx, split(tables.table(RESULTS).get(key) ?? new Uint8Array(0))[place]);
}

/** The writes that remove the transactions of a block. */
export function txRemovals(tables: Tables, height: bigint): Write[] {
  return [...tables.table(TXS).iterate(rangeOf(height))].flatMap(([key]) => removalsOf(key));
}

/** Rows of blocks below a height, with the transactions in each and the writes that remove it. */
export function* txRowsBelow(tables: Tables, height: bigint): Generator<TxRow> {
  for (const [key, value] of tables.table(TXS).iterate({ end: uint64ToBytes(height) }))
    yield { height: bytesToUint64(key.subarray(0, 8)), txs: split(value), removals: removalsOf(key) };
}

export interface TxRow {
  readonly height: bigint;
  readonly txs: readonly Uint8Array[];
  readonly removals: readonly Write[];
}

function removalsOf(key: Uint8Array): Write[] {
  return TX_TABLES.map((table) => ({ table, key, value: null }));
}

function rowsOf(tables: Tables, table: string, height: bigint): Uint8Array[] {
  return [...tables.table(table).iterate(rangeOf(height))].flatMap(([, value]) => split(value));
}

function rangeOf(height: bigint): Range {
  return { start: rowKey(height, 0), end: uint64ToBytes(height + 1n) };
}

function executed(tx: Uint8Array, result: Uint8Array | undefined): ExecutedTx {
  if (result === undefined) throw new Error("a stored transaction has no result");
  return { tx, result: decodeTxResult(result) };
}

function rowKey(height: bigint, index: number): Uint8Array {
  const key = Buffer.alloc(12);
  key.writeBigUInt64BE(height);
  key.writeUInt32BE(index, 8);
  return key;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const part of parts) writer.bytes(part);
  return writer.finish();
}

function split(bytes: Uint8Array): Uint8Array[] {
  const reader = new BinaryReader(bytes);
  const parts: Uint8Array[] = [];
  while (reader.pos < reader.len) parts.push(reader.bytes());
  return parts;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
