import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";

/** How much of a file may be read, and of which kinds. */
export interface ReadLimit {
  readonly maxBytes: number;
  /** Whether a pipe is accepted, such as `<(command)` of a shell; it is read to its end. */
  readonly pipes?: boolean;
}

const CHUNK = 64 * 1024;

/**
 * The bytes of a file, at most `maxBytes`. Throws one sentence for a larger file and for anything but a regular file: a
 * device may never end, and opening a pipe without a writer blocks forever.
 */
export function readFileBytes(path: string, limit: ReadLimit): Uint8Array {
  const bytes = readFileStart(path, limit);
  if (bytes.length > limit.maxBytes) throw new Error(`${path} is larger than ${limit.maxBytes} bytes`);
  return bytes;
}

/** The same, with one byte more than `maxBytes` of a larger file. */
export function readFileStart(path: string, limit: ReadLimit): Uint8Array {
  if (path.includes("\0")) throw new Error("a path has no zero byte");
  checkKind(path, statSync(path), limit);
  const descriptor = openSync(path, "r");
  try {
    // The file may have been replaced meanwhile.
    checkKind(path, fstatSync(descriptor), limit);
    return readUpTo(descriptor, limit.maxBytes + 1);
  } finally {
    closeSync(descriptor);
  }
}

/** The text of a file; bytes that are not UTF-8 become replacement characters. */
export function readFileText(path: string, limit: ReadLimit): string {
  return Buffer.from(readFileBytes(path, limit)).toString("utf8");
}

/** Bytes of a file. */
export function fileSize(path: string): number {
  const stat = statSync(path);
  checkKind(path, stat, { maxBytes: 0 });
  return stat.size;
}

/** The part of a file that begins at a position; shorter if the file ends before. Nothing else of the file is read. */
export function readFilePart(path: string, { start, length }: { start: number; length: number }): Uint8Array {
  checkKind(path, statSync(path), { maxBytes: length });
  const descriptor = openSync(path, "r");
  try {
    const size = fstatSync(descriptor).size;
    const part = new Uint8Array(Math.max(0, Math.min(length, size - start)));
    let count = 0;
    while (count < part.length) {
      const read = readSync(descriptor, part, count, part.length - count, start + count);
      if (read === 0) break;
      count += read;
    }
    return part.subarray(0, count);
  } finally {
    closeSync(descriptor);
  }
}

function checkKind(path: string, stat: Stats, { pipes = false }: ReadLimit): void {
  if (stat.isFile() || (pipes && stat.isFIFO())) return;
  throw new Error(`${path} is ${kindOf(stat)}, not a file`);
}

function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return "a directory";
  if (stat.isFIFO()) return "a pipe";
  return stat.isSocket() ? "a socket" : "a device";
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

/** All bytes of a stream, unless there are more than `most`: then its end is not awaited. */
export async function readWhole(
  stream: AsyncIterable<Uint8Array>,
  most: number,
  tooLarge: () => Error,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop ends the connection.
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > most) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The text of a whole stream; bytes that are not UTF-8 become replacement characters. */
export async function readWholeText(...args: Parameters<typeof readWhole>): Promise<string> {
  return Buffer.from(await readWhole(...args)).toString("utf8");
}
