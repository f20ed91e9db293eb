import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { concatBytes, fromUtf8, toUtf8, uint64ToBytes } from "../../util/index.ts";
import { MAX_KEY_BYTES } from "../kv.ts";
import { HASH_BYTES, sha256 } from "../tree/hash.ts";

/** Version of the form below; `docs/decisions/snapshots.md` describes it. */
export const SNAPSHOT_FORMAT = 2;
/** The form of earlier versions: it also has a table that the app hash does not cover. */
export const OLDER_FORMAT = 1;
/** Maximum size of a chunk as it is sent and kept. */
export const MAX_CHUNK_BYTES = 10_000_000;
/** Bytes of content in every chunk but the last one. Incompressible content grows by a few bytes for each 16 KiB. */
export const CHUNK_CONTENT_BYTES = 4 << 20;
/** More chunks than a state of 400 GB has; the hashes of so many are 3 MB. */
export const MAX_CHUNKS = 100_000;
/** Bytes of a value in a snapshot, at most. */
export const MAX_VALUE_BYTES = 64 << 20;
const MAX_NAME_BYTES = 100;

/** A snapshot as nodes describe it to each other. */
export interface SnapshotHead {
  readonly height: bigint;
  readonly format: number;
  readonly chunks: number;
  /** Hash of the metadata, which holds the hashes of the chunks. */
  readonly hash: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An item of a chunk. Tables come in the order of their names, entries in the order of their keys. */
export type SnapshotItem =
  | { readonly kind: "height"; readonly height: bigint }
  | { readonly kind: "table"; readonly name: string }
  | { readonly kind: "entry"; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly kind: "end"; readonly entries: bigint };

/** The first byte of an item. */
const END = 0;
const HEIGHT = 1;
const TABLE = 2;
const ENTRY = 3;

/** A content that is not in this form. */
export class BadSnapshot extends Error {}

export function heightItem(height: bigint): Uint8Array {
  return concatBytes(Uint8Array.of(HEIGHT), uint64ToBytes(height));
}

export function tableItem(name: string): Uint8Array {
  const text = toUtf8(name);
  if (text.length > MAX_NAME_BYTES) throw new Error(`the name of table ${name} is too long for a snapshot`);
  return concatBytes(Uint8Array.of(TABLE, text.length), text);
}

/** Key behind its length (2 bytes), value behind its length (4 bytes). */
export function entryItem(key: Uint8Array, value: Uint8Array): Uint8Array {
  if (value.length > MAX_VALUE_BYTES) throw new Error(`a value of ${value.length} bytes is too large for a snapshot`);
  const item = Buffer.allocUnsafe(ENTRY_BYTES + key.length + value.length);
  item[0] = ENTRY;
  item.writeUInt16BE(key.length, 1);
  item.writeUInt32BE(value.length, 3);
  item.set(key, ENTRY_BYTES);
  item.set(value, ENTRY_BYTES + key.length);
  return item;
}

export function endItem(entries: bigint): Uint8Array {
  return concatBytes(Uint8Array.of(END), uint64ToBytes(entries));
}

const ENTRY_BYTES = 7;

/** Takes items from content that arrives in pieces. Keeps the incomplete rest, which is one item at most. */
export class ItemReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Whether everything that was read was complete items. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }

  *read(content: Uint8Array): Generator<SnapshotItem> {
    const bytes = this.#rest.length === 0 ? Buffer.from(content) : Buffer.concat([this.#rest, content]);
    let at = 0;
    for (;;) {
      const length = itemLength(bytes, at);
      if (length === undefined || at + length > bytes.length) break;
      yield itemAt(bytes, at, at + length);
      at += length;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }
}

/** Undefined if there are too few bytes yet. Throws `BadSnapshot` for bytes that no item begins with. */
function itemLength(bytes: Buffer, at: number): number | undefined {
  if (at >= bytes.length) return undefined;
  const kind = bytes[at];
  if (kind === END || kind === HEIGHT) return 9;
  if (kind === TABLE) {
    const name = bytes[at + 1];
    if (name === undefined) return undefined;
    if (name === 0 || name > MAX_NAME_BYTES) throw new BadSnapshot("a table has no name of an allowed length");
    return 2 + name;
  }
  if (kind !== ENTRY) throw new BadSnapshot(`there is no item of kind ${kind}`);
  if (at + ENTRY_BYTES > bytes.length) return undefined;
  const [key, value] = [bytes.readUInt16BE(at + 1), bytes.readUInt32BE(at + 3)];
  if (key === 0 || key > MAX_KEY_BYTES) throw new BadSnapshot(`a key has ${key} bytes`);
  if (value === 0 || value > MAX_VALUE_BYTES) throw new BadSnapshot(`a value has ${value} bytes`);
  return ENTRY_BYTES + key + value;
}

function itemAt(bytes: Buffer, at: number, end: number): SnapshotItem {
  const kind = bytes[at];
  if (kind === END) return { kind: "end", entries: bytes.readBigUInt64BE(at + 1) };
  if (kind === HEIGHT) return { kind: "height", height: bytes.readBigUInt64BE(at + 1) };
  if (kind === TABLE) return { kind: "table", name: fromUtf8(bytes.subarray(at + 2, end)) };
  const keyEnd = at + ENTRY_BYTES + bytes.readUInt16BE(at + 1);
  return {
    kind: "entry",
    key: Uint8Array.from(bytes.subarray(at + ENTRY_BYTES, keyEnd)),
    value: Uint8Array.from(bytes.subarray(keyEnd, end)),
  };
}

/** The head of a snapshot from the hashes of its chunks. */
export function snapshotHead(height: bigint, hashes: readonly Uint8Array[]): SnapshotHead {
  const writer = new BinaryWriter();
  for (const hash of hashes) writer.tag(1, WireType.LengthDelimited).bytes(hash);
  const metadata = writer.finish();
  return { height, format: SNAPSHOT_FORMAT, chunks: hashes.length, hash: sha256(metadata), metadata };
}

/** The hashes of the chunks. Throws `BadSnapshot` if head and metadata do not belong together. */
export function chunkHashes({ chunks, hash, metadata }: SnapshotHead): Uint8Array[] {
  if (!Number.isInteger(chunks) || chunks < 1 || chunks > MAX_CHUNKS)
    throw new BadSnapshot(`it has ${chunks} chunks: 1 to ${MAX_CHUNKS} are possible`);
  // A tag, a length and a hash for each.
  if (metadata.length !== chunks * (HASH_BYTES + 2)) throw new BadSnapshot("its metadata do not fit its chunks");
  if (Buffer.compare(sha256(metadata), hash) !== 0) throw new BadSnapshot("its hash is not that of its metadata");
  const reader = new BinaryReader(metadata);
  return Array.from({ length: chunks }, () => {
    const [field, type] = reader.tag();
    const found = field === 1 && type === WireType.LengthDelimited ? reader.bytes() : new Uint8Array(0);
    if (found.length !== HASH_BYTES) throw new BadSnapshot("its metadata cannot be read");
    return found;
  });
}
