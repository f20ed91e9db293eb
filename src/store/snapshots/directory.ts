import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { fromHex, makePrivateDirectory, readFileBytes, readFileText, syncDirectory, toHex } from "../../util/index.ts";
import { storeErrors } from "../errors.ts";
import { sha256 } from "../tree/hash.ts";
import { chunkHashes, MAX_CHUNK_BYTES, MAX_CHUNKS, type SnapshotHead } from "./form.ts";

/** Bytes of a file with a block, at most. */
export const MAX_BLOCK_FILE_BYTES = 256 << 20;
/** Blocks that may come with a snapshot. */
export const MAX_BLOCK_FILES = 100_000;
/** Bytes of the record of a snapshot: a hash in hexadecimal for each chunk and block, and room. */
export const MAX_RECORD_BYTES = 80 * (MAX_CHUNKS + MAX_BLOCK_FILES);

/** The file that describes a snapshot; a directory without it holds none. */
const RECORD = "snapshot.json";
const PRIVATE = 0o600;
const NAME = /^([1-9]\d{0,18})-(\d{1,9})$/;

/** The record of a kept snapshot. */
export interface SnapshotRecord extends SnapshotHead {
  /** Hashes of the files with blocks: what the engine needs of the snapshot's own height, then the blocks behind it. */
  readonly blocks: readonly Uint8Array[];
}

/** Which snapshot. */
export type SnapshotPlace = Pick<SnapshotHead, "height" | "format">;

export function chunkFile(index: number): string {
  return String(index);
}

export function blockFile(index: number): string {
  return `block-${index}`;
}

/** The record as text, so that it can be read with any tool. */
export function recordText({ height, format, chunks, hash, metadata, blocks }: SnapshotRecord): string {
  const record = {
    height: `${height}`,
    format,
    chunks,
    hash: toHex(hash),
    metadata: toHex(metadata),
    blocks: blocks.map(toHex),
  };
  return `${JSON.stringify(record)}\n`;
}

/** Throws `store/11` if the text is not a record, or its parts do not belong together. */
export function parseRecord(text: string): SnapshotRecord {
  try {
    const raw: Readonly<Record<string, unknown>> = JSON.parse(text);
    const record = {
      height: readHeight(raw.height),
      format: readCount(raw.format),
      chunks: readCount(raw.chunks),
      hash: readBytes(raw.hash),
      metadata: readBytes(raw.metadata),
      blocks: readHashes(raw.blocks),
    };
    chunkHashes(record);
    return record;
  } catch (cause) {
    throw storeErrors.badSnapshot("its record cannot be read", { cause });
  }
}

function readHeight(value: unknown): bigint {
  if (typeof value !== "string" || !/^[1-9]\d{0,18}$/.test(value)) throw new Error("no height");
  return BigInt(value);
}

function readCount(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw new Error("no count");
  return value;
}

function readBytes(value: unknown): Uint8Array {
  if (typeof value !== "string" || !/^(?:[0-9a-f]{2})*$/.test(value)) throw new Error("no bytes");
  return fromHex(value);
}

function readHashes(value: unknown): Uint8Array[] {
  if (!Array.isArray(value) || value.length > MAX_BLOCK_FILES) throw new Error("no hashes");
  return value.map(readBytes);
}

/** Snapshots in a directory: one below it for each, named `<height>-<format>`. */
export class SnapshotDirectory {
  readonly path: string;
  /** The complete snapshots among these names: other nodes may ask for them at any rate. */
  #listed: { readonly names: string; readonly records: readonly SnapshotRecord[] } | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Complete snapshots, the highest first; unreadable ones are left out. */
  list(): readonly SnapshotRecord[] {
    const found = existsSync(this.path) ? readdirSync(this.path) : [];
    const names = found.join("/");
    if (this.#listed?.names !== names) this.#listed = { names, records: this.#readAll(found) };
    return this.#listed.records;
  }

  #readAll(names: readonly string[]): SnapshotRecord[] {
    const found = names.flatMap((name) => this.#read(name) ?? []);
    return found.sort((a, b) => (a.height === b.height ? b.format - a.format : a.height < b.height ? 1 : -1));
  }

  /** Throws `store/13` if it does not exist. */
  find({ height, format }: SnapshotPlace): SnapshotRecord {
    const found = this.#read(`${height}-${format}`);
    if (found === undefined) throw storeErrors.noSnapshot(`height ${height}, format ${format}`);
    return found;
  }

  /** The compressed bytes of a chunk on disk; undefined if it does not exist. */
  chunk(place: SnapshotPlace, index: number): Uint8Array | undefined {
    return this.#file(place, chunkFile(index), MAX_CHUNK_BYTES);
  }

  /** The bytes of a file with a block; undefined if it does not exist. */
  block(place: SnapshotPlace, index: number): Uint8Array | undefined {
    return this.#file(place, blockFile(index), MAX_BLOCK_FILE_BYTES);
  }

  /**
   * An empty place for the files of a new snapshot, one at a time for each name; removes an unfinished snapshot of the
   * same name.
   */
  stage(name: "taking" | "loading"): Staging {
    const path = this.#clearStage(name);
    makePrivateDirectory(path);
    return new Staging(path, this);
  }

  /** Removes an unfinished snapshot. */
  clear(name: "taking" | "loading"): void {
    if (existsSync(this.path)) this.#clearStage(name);
  }

  #clearStage(name: string): string {
    const path = join(this.path, `.${name}`);
    rmSync(path, { recursive: true, force: true });
    return path;
  }

  /** Removes a snapshot. Throws `store/13` if it does not exist. */
  remove(place: SnapshotPlace): void {
    this.find(place);
    this.#unlist(place);
  }

  /** Removes all but the highest ones; 0 keeps all. */
  keep(count: number): void {
    if (count === 0) return;
    for (const place of this.list().slice(count)) this.#unlist(place);
  }

  /** Makes a staged snapshot a complete one. Throws `store/14` if one of that height and format exists. */
  adopt(staged: string, place: SnapshotPlace): void {
    const path = this.#pathOf(place);
    if (existsSync(join(path, RECORD)))
      throw storeErrors.snapshotExists(`height ${place.height}, format ${place.format}`);
    // Remains of a snapshot whose removal was interrupted.
    rmSync(path, { recursive: true, force: true });
    syncDirectory(staged);
    renameSync(staged, path);
    syncDirectory(this.path);
    this.#listed = undefined;
  }

  /** Without its record it is not a snapshot, whatever happens to the rest. */
  #unlist(place: SnapshotPlace): void {
    const path = this.#pathOf(place);
    rmSync(join(path, RECORD), { force: true });
    syncDirectory(path);
    rmSync(path, { recursive: true, force: true });
    this.#listed = undefined;
  }

  #read(name: string): SnapshotRecord | undefined {
    const [, height, format] = NAME.exec(name) ?? [];
    const path = join(this.path, name, RECORD);
    if (height === undefined || !existsSync(path)) return undefined;
    try {
      const record = parseRecord(readFileText(path, { maxBytes: MAX_RECORD_BYTES }));
      return `${record.height}` === height && `${record.format}` === format ? record : undefined;
    } catch {
      return undefined;
    }
  }

  #file(place: SnapshotPlace, name: string, maxBytes: number): Uint8Array | undefined {
    const path = join(this.#pathOf(place), name);
    return existsSync(path) ? readFileBytes(path, { maxBytes }) : undefined;
  }

  #pathOf({ height, format }: SnapshotPlace): string {
    return join(this.path, `${height}-${format}`);
  }
}

/** Files of a snapshot that is not complete yet. */
export class Staging {
  readonly #path: string;
  readonly #directory: SnapshotDirectory;
  readonly #blocks: Uint8Array[] = [];

  constructor(path: string, directory: SnapshotDirectory) {
    this.#path = path;
    this.#directory = directory;
  }

  /** Writes a chunk; it is on disk then. */
  saveChunk(index: number, bytes: Uint8Array): Promise<void> {
    return this.#save(chunkFile(index), bytes);
  }

  /** Writes the next file with a block. */
  async saveBlock(bytes: Uint8Array): Promise<void> {
    await this.#save(blockFile(this.#blocks.length), bytes);
    this.#blocks.push(sha256(bytes));
  }

  /** Completes the snapshot, all at once. */
  async publish(head: SnapshotHead): Promise<SnapshotRecord> {
    const record = { ...head, blocks: this.#blocks };
    await this.#save(RECORD, Buffer.from(recordText(record)));
    this.#directory.adopt(this.#path, head);
    return record;
  }

  discard(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }

  async #save(name: string, bytes: Uint8Array): Promise<void> {
    const file = await open(join(this.#path, name), "wx", PRIVATE);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  }
}
