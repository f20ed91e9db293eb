import { closeSync, openSync, readSync } from "node:fs";
import { errorText, fromUtf8 } from "../util/index.ts";
import { commandError } from "./errors.ts";

export interface FileWant {
  /** What is read, for errors: `transaction file`. */
  readonly what: string;
  readonly maxBytes: number;
  /** The remedy when it cannot be read. */
  readonly hint?: string;
}

/** The text of a file of any kind, pipes included. Throws one sentence when it cannot be read, is too large or no text. */
export function readTextFile(path: string, want: FileWant): string {
  const bytes = readBytes(path, want);
  if (bytes.length > want.maxBytes)
    throw commandError(`${want.what} ${path} is larger than ${want.maxBytes} bytes`, {
      hint: "is it the right file?",
    });
  try {
    return fromUtf8(bytes).replace(/^\uFEFF/, "");
  } catch (cause) {
    throw commandError(`${want.what} ${path} is not UTF-8 text`, { hint: "save it as UTF-8", cause });
  }
}

const CHUNK = 64 * 1024;

function readBytes(path: string, { what, maxBytes, hint }: FileWant): Uint8Array {
  try {
    const descriptor = openSync(path, "r");
    try {
      return readUpTo(descriptor, maxBytes + 1);
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    throw commandError(`cannot read the ${what}: ${errorText(cause)}`, {
      cause,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}

function readUpTo(descriptor: number, limit: number): Uint8Array {
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < limit) {
    const chunk = new Uint8Array(Math.min(CHUNK, limit - length));
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    length += count;
  }
  return Buffer.concat(chunks);
}
