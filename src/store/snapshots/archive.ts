import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { equalBytes, errorText, isOneOf, syncDirectory } from "../../util/index.ts";
import { storeErrors } from "../errors.ts";
import { sha256 } from "../tree/hash.ts";
import {
  blockFile,
  chunkFile,
  MAX_BLOCK_FILE_BYTES,
  MAX_RECORD_BYTES,
  parseRecord,
  recordText,
  type SnapshotDirectory,
  type SnapshotRecord,
} from "./directory.ts";
import { BadSnapshot, chunkHashes, MAX_CHUNK_BYTES } from "./form.ts";

/**
 * A snapshot as one file: a tar archive, compressed with gzip, of the record, the chunks and the blocks, in this order and
 * with nothing else. It is read as a stream: one file of it is in memory at a time.
 */
const RECORD = "_snapshot";
/** The chunks are already compressed. */
const LEVEL = 1;
const TAR_BLOCK = 512;
/** The bytes after the last file. */
const TAR_END = 2 * TAR_BLOCK;
/** Zero bytes that may follow the end, as tar programs fill their last record. */
const MAX_PADDING = 64 * 1024;

/** Files of a snapshot in their order. */
export interface ArchiveFiles {
  readonly record: SnapshotRecord;
  chunk(index: number): Uint8Array;
  block(index: number): Uint8Array;
}

/** The name of an archive where none is given. */
export function archiveFile({ height, format }: Pick<SnapshotRecord, "height" | "format">): string {
  return `${height}-${format}.tar.gz`;
}

/** Writes an archive as a whole: a file of this name appears when it is complete. */
export async function writeArchive(path: string, files: ArchiveFiles): Promise<void> {
  const temporary = `${path}.part`;
  try {
    const out = createWriteStream(temporary, { mode: 0o600, flush: true });
    await pipeline(Readable.from(tarOf(files), { objectMode: false }), createGzip({ level: LEVEL }), out);
    await rename(temporary, path);
    syncDirectory(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function* tarOf(files: ArchiveFiles): Generator<Uint8Array> {
  const { record } = files;
  yield* tarFile(RECORD, Buffer.from(recordText(record)));
  for (let i = 0; i < record.chunks; i++) yield* tarFile(chunkFile(i), files.chunk(i));
  for (let i = 0; i < record.blocks.length; i++) yield* tarFile(blockFile(i), files.block(i));
  yield Buffer.alloc(TAR_END);
}

function* tarFile(name: string, bytes: Uint8Array): Generator<Uint8Array> {
  yield tarHeader(name, bytes.length);
  yield bytes;
  yield Buffer.alloc(padding(bytes.length));
}

function padding(size: number): number {
  return (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK;
}

function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(TAR_BLOCK);
  header.write(name, 0, "latin1");
  header.write("0000600\0", 100, "latin1");
  header.write("0000000\0", 108, "latin1");
  header.write("0000000\0", 116, "latin1");
  header.write(`${octal(size, 11)}\0`, 124, "latin1");
  header.write(`${octal(0, 11)}\0`, 136, "latin1");
  header.write("0", 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  header.write(`${octal(checksum(header), 6)}\0 `, 148, "latin1");
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/** The sum of the bytes, with spaces instead of the sum itself. */
function checksum(header: Buffer): number {
  let sum = 0;
  for (let i = 0; i < TAR_BLOCK; i++) sum += i >= 148 && i < 156 ? 32 : (header[i] ?? 0);
  return sum;
}

/**
 * Reads an archive into a directory of snapshots; every file is compared with its hash before the snapshot appears.
 * Throws `store/11` if it is not such an archive, `store/14` if the snapshot already exists; nothing is left of it
 * then.
 */
export async function loadArchive(path: string, directory: SnapshotDirectory): Promise<SnapshotRecord> {
  const staging = directory.stage("loading");
  const source = createReadStream(path);
  const unpacked = createGunzip();
  const piped = pipeline(source, unpacked);
  piped.catch(() => {});
  try {
    const parts: AsyncIterator<Buffer> = unpacked[Symbol.asyncIterator]();
    const tar = new TarReader(parts);
    const record = parseRecord(Buffer.from(await tar.file(RECORD, MAX_RECORD_BYTES)).toString("utf8"));
    for (const [i, hash] of chunkHashes(record).entries())
      await staging.saveChunk(i, checked(await tar.file(chunkFile(i), MAX_CHUNK_BYTES), hash, chunkFile(i)));
    for (const [i, hash] of record.blocks.entries())
      await staging.saveBlock(checked(await tar.file(blockFile(i), MAX_BLOCK_FILE_BYTES), hash, blockFile(i)));
    await tar.end();
    await piped;
    return await staging.publish(record);
  } catch (error) {
    staging.discard();
    throw loadFault(error, path);
  } finally {
    source.destroy();
    unpacked.destroy();
  }
}

function checked(bytes: Uint8Array, hash: Uint8Array, name: string): Uint8Array {
  if (equalBytes(sha256(bytes), hash)) return bytes;
  throw new BadSnapshot(`${name} has another hash than the record says`);
}

function loadFault(error: unknown, path: string): unknown {
  if (isOneOf([storeErrors.badSnapshot, storeErrors.snapshotExists], error)) return error;
  // The error of decompression for uncompressed bytes.
  const isData = error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
  if (!(error instanceof BadSnapshot) && !isData) return error;
  return storeErrors.badSnapshot(`${path}: ${errorText(error)}`, { cause: error });
}

/** Reads a tar archive whose files are known in advance; a file that is larger than allowed is not begun. */
class TarReader {
  readonly #source: AsyncIterator<Buffer>;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(source: AsyncIterator<Buffer>) {
    this.#source = source;
  }

  /** The next file, which must have this name. */
  async file(name: string, maxBytes: number): Promise<Uint8Array> {
    const header = await this.#take(TAR_BLOCK);
    const size = fileSizeOf(header, name);
    if (size > maxBytes) throw new BadSnapshot(`${name} has more than ${maxBytes} bytes`);
    const bytes = await this.#take(size);
    if ((await this.#take(padding(size))).some((byte) => byte !== 0)) throw new BadSnapshot("its archive is damaged");
    return bytes;
  }

  /** Nothing but zero bytes may follow, and not many. */
  async end(): Promise<void> {
    let zeros = 0;
    for (;;) {
      const part = this.#parts.shift() ?? (await this.#next());
      if (part === undefined) break;
      zeros += part.length;
      if (part.some((byte) => byte !== 0) || zeros > MAX_PADDING)
        throw new BadSnapshot("its archive holds more than the snapshot");
    }
    if (zeros < TAR_END) throw new BadSnapshot("the end of its archive is missing");
  }

  async #take(size: number): Promise<Buffer> {
    while (this.#bytes < size) {
      const part = await this.#next();
      if (part === undefined) throw new BadSnapshot("the end of its archive is missing");
      this.#parts.push(part);
      this.#bytes += part.length;
    }
    const all = this.#parts.length === 1 ? (this.#parts[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#parts);
    const rest = all.subarray(size);
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return all.subarray(0, size);
  }

  async #next(): Promise<Buffer | undefined> {
    const step = await this.#source.next();
    return step.done === true ? undefined : step.value;
  }
}

/** The size in a header. Throws unless it is the header of a plain file of this name, whole as written. */
function fileSizeOf(header: Buffer, name: string): number {
  const size = Number.parseInt(header.toString("latin1", 124, 135), 8);
  if (!Number.isSafeInteger(size) || size < 0 || !header.equals(tarHeader(name, size)))
    throw new BadSnapshot(`its archive has something else instead of ${name}`);
  return size;
}
