import { bytesToUint64, toUtf8, uint64ToBytes } from "../../util/index.ts";
import type { Database, Write } from "../database/database.ts";

/**
 * Old values are kept in epochs: a write touches only the pages of the newest epoch, pruning drops whole epochs, and a
 * read of an old height visits the epochs between it and the last height.
 */
export const HISTORY_TABLE = "history/values";
/** `base` -> lowest height that can be read (8 bytes); number of an epoch (4) -> its first height (8), its bytes (8). */
const EPOCHS_TABLE = "history/epochs";
export const HISTORY_TABLES: readonly string[] = [HISTORY_TABLE, EPOCHS_TABLE];

const BASE = toUtf8("base");

export interface Epoch {
  readonly number: number;
  /** Height of the first block whose old values are in it. */
  readonly first: bigint;
  /** Size of the epoch's keys and values. */
  readonly bytes: bigint;
}

/** Heights before the last one that are kept. */
export interface HistoryRange {
  /** The lowest height that can be read. */
  readonly base: bigint;
  /** From old to new. */
  readonly epochs: readonly Epoch[];
}

/** Undefined before the first commit, and in a database that was written before there was history. */
export function readRange(tables: Pick<Database, "table">): HistoryRange | undefined {
  const table = tables.table(EPOCHS_TABLE);
  const base = table.get(BASE);
  if (base === undefined) return undefined;
  const epochs = [...table.iterate({ end: BASE })].map(([key, value]) => ({
    number: Buffer.from(key).readUInt32BE(),
    first: bytesToUint64(value.subarray(0, 8)),
    bytes: bytesToUint64(value.subarray(8)),
  }));
  return { base: bytesToUint64(base), epochs };
}

export function baseWrite(base: bigint): Write {
  return { table: EPOCHS_TABLE, key: BASE, value: uint64ToBytes(base) };
}

export function baseRemoval(): Write {
  return { table: EPOCHS_TABLE, key: BASE, value: null };
}

export function epochWrite({ number, first, bytes }: Epoch): Write {
  return { table: EPOCHS_TABLE, key: epochKey(number), value: Buffer.concat([first, bytes].map(uint64ToBytes)) };
}

export function epochRemoval({ number }: Epoch): Write {
  return { table: EPOCHS_TABLE, key: epochKey(number), value: null };
}

/** The bytes of `base` sort after those of every number. */
function epochKey(number: number): Uint8Array {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(number);
  return key;
}
