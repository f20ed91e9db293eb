import { STATE_TABLES } from "../database/database.ts";

/**
 * Keys of the old values: epoch (4 bytes), table, zero byte, the key in its own form, place of the block in the epoch
 * (4 bytes). The bytes behind a key must not change the order of keys, so the form marks its own end and keeps the
 * order: a run of zero bytes becomes a zero byte and a byte that tells its length and whether the key ends with it.
 */
const EPOCH_BYTES = 4;
const PLACE_BYTES = 4;
/** Maximum number of zero bytes that one code stands for. */
const LONGEST_RUN = 127;
/** The code of a run before another byte is this less its length, so that shorter runs come later. */
const BEFORE_OTHERS = 255;

/** The name of a table in keys: a store's own name for state, a distinct form for other tables. */
function tableCode(table: string): string {
  return table.startsWith(STATE_TABLES) ? table.slice(STATE_TABLES.length) : `=${table}`;
}

function tableOf(code: string): string {
  return code.startsWith("=") ? code.slice(1) : STATE_TABLES + code;
}

/** Prefix of all keys of a table within an epoch. */
export function tablePrefix(epoch: number, table: string): Buffer {
  const code = tableCode(table);
  const prefix = Buffer.alloc(EPOCH_BYTES + code.length + 1);
  prefix.writeUInt32BE(epoch);
  prefix.write(code, EPOCH_BYTES, "latin1");
  return prefix;
}

/** Prefix of all keys of an epoch. */
export function epochPrefix(epoch: number): Buffer {
  const prefix = Buffer.alloc(EPOCH_BYTES);
  prefix.writeUInt32BE(epoch);
  return prefix;
}

/** Prefix and key, in the form that ends by itself. */
export function keyPrefix(prefix: Uint8Array, key: Uint8Array): Buffer {
  // A run of one zero byte takes two, and the end two.
  const out = Buffer.allocUnsafe(prefix.length + 2 * key.length + 2);
  out.set(prefix);
  return out.subarray(0, writeOrdered(key, out, prefix.length));
}

/** The whole key of an old value. */
export function entryKey(prefix: Uint8Array, key: Uint8Array, place: number): Buffer {
  const out = Buffer.allocUnsafe(prefix.length + 2 * key.length + 2 + PLACE_BYTES);
  out.set(prefix);
  const end = writeOrdered(key, out, prefix.length);
  return out.subarray(0, out.writeUInt32BE(place, end));
}

/** Returns the offset behind the written bytes. */
function writeOrdered(key: Uint8Array, out: Uint8Array, offset: number): number {
  let at = offset;
  for (let i = 0; i < key.length; ) {
    const byte = key[i] ?? 0;
    if (byte !== 0) {
      out[at++] = byte;
      i += 1;
      continue;
    }
    const run = runLength(key, i);
    i += run;
    out[at++] = 0;
    if (run === LONGEST_RUN) out[at++] = LONGEST_RUN;
    else if (i === key.length) {
      out[at++] = run;
      return at;
    } else out[at++] = BEFORE_OTHERS - run;
  }
  out[at++] = 0;
  out[at++] = 0;
  return at;
}

function runLength(key: Uint8Array, from: number): number {
  let end = from;
  while (end < key.length && end - from < LONGEST_RUN && key[end] === 0) end += 1;
  return end - from;
}

/** A key of the table, read back. */
export interface EntryPlace {
  readonly table: string;
  readonly key: Uint8Array;
  readonly place: number;
}

export function readEntryKey(bytes: Uint8Array): EntryPlace {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = whole.indexOf(0, EPOCH_BYTES);
  return { table: tableOf(whole.toString("latin1", EPOCH_BYTES, end)), ...readPlacedKey(whole, end + 1) };
}

/** The key and the place of the block that follow a prefix of some length. */
export function readPlacedKey(bytes: Uint8Array, from: number): Pick<EntryPlace, "key" | "place"> {
  const key: number[] = [];
  let at = from;
  for (;;) {
    const byte = bytes[at++] ?? 0;
    if (byte !== 0) {
      key.push(byte);
      continue;
    }
    const code = bytes[at++] ?? 0;
    const zeros = code <= LONGEST_RUN ? code : BEFORE_OTHERS - code;
    for (let i = 0; i < zeros; i++) key.push(0);
    if (code < LONGEST_RUN) break;
  }
  return {
    key: Uint8Array.from(key),
    place: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readUInt32BE(at),
  };
}
