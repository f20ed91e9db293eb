import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Suffix of the names of tables whose values are compressed on disk. */
const ENDING = "/deflated";
/** The fastest level of zlib: repetitive text shrinks to a tenth, at some 2 µs a kilobyte. */
const LEVEL = 1;

/** The name of a table whose values are compressed on disk; readers and writers do not notice. */
export function deflatedTable(name: string): string {
  return name + ENDING;
}

export function isDeflated(table: string): boolean {
  return table.endsWith(ENDING);
}

export function deflate(value: Uint8Array): Buffer {
  return deflateRawSync(value, { level: LEVEL });
}

export function inflate(value: Uint8Array): Buffer {
  return inflateRawSync(value);
}
