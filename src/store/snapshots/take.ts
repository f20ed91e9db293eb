import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { assert, toUtf8 } from "../../util/index.ts";
import { type Database, stateTable } from "../database/database.ts";
import { type PastTables, pastTables } from "../history/past.ts";
import { sha256 } from "../tree/hash.ts";
import {
  CHUNK_CONTENT_BYTES,
  endItem,
  entryItem,
  heightItem,
  type SnapshotHead,
  snapshotHead,
  tableItem,
} from "./form.ts";

/** Maximum part of the state read between two pauses: about 2 ms. */
export const PIECE = { entries: 1_000, bytes: 256 * 1024 } as const;

const compress = promisify(deflate);
const LEVEL = 4;

/** Tables of a snapshot: those of the stores, and other tables kept with the state. */
export interface SnapshotTables {
  readonly stores: readonly string[];
  readonly kept: readonly string[];
}

/** Names of tables in the order in which a snapshot has them. */
export function snapshotOrder({ stores, kept }: SnapshotTables): string[] {
  return [...stores.map(stateTable), ...kept].sort((a, b) => Buffer.compare(toUtf8(a), toUtf8(b)));
}

export interface TakeParts {
  readonly database: Pick<Database, "table">;
  /** Height of a commit that stays readable until the end. */
  readonly height: bigint;
  readonly tables: SnapshotTables;
  /** Writes a chunk to where it stays. */
  save(index: number, chunk: Uint8Array): Promise<void>;
  /** Lets others run. */
  pause(): Promise<void>;
}

/**
 * Takes a snapshot of a height while blocks continue. The state is read in small pieces; keys that blocks change
 * meanwhile are read from the old values.
 */
export async function takeSnapshot({ database, height, tables, save, pause }: TakeParts): Promise<SnapshotHead> {
  const hashes: Uint8Array[] = [];
  const content = new Content();
  const emit = async (bytes: Uint8Array): Promise<void> => {
    const chunk = await compress(bytes, { level: LEVEL });
    await save(hashes.length, chunk);
    hashes.push(sha256(chunk));
  };
  content.add(heightItem(height));
  let entries = 0n;
  for (const name of snapshotOrder(tables)) {
    content.add(tableItem(name));
    let from: Uint8Array | undefined = new Uint8Array(0);
    while (from !== undefined) {
      const piece = readPiece(past(database, height), name, from);
      for (const item of piece.items) content.add(item);
      entries += BigInt(piece.items.length);
      for (let full = content.full(); full !== undefined; full = content.full()) await emit(full);
      from = piece.next;
      await pause();
    }
  }
  content.add(endItem(entries));
  for (let full = content.full(); full !== undefined; full = content.full()) await emit(full);
  await emit(content.rest());
  return snapshotHead(height, hashes);
}

function past(database: Pick<Database, "table">, height: bigint): PastTables {
  const tables = pastTables(database, height);
  assert(tables !== undefined, "the height of a snapshot stays readable while it is taken");
  return tables;
}

/** Items of a table from a key on, and the key to continue with. */
function readPiece(tables: PastTables, name: string, start: Uint8Array) {
  const items: Uint8Array[] = [];
  let bytes = 0;
  for (const [key, value] of tables.table(name).iterate({ start })) {
    if (items.length >= PIECE.entries || bytes >= PIECE.bytes) return { items, next: Uint8Array.from(key) };
    const item = entryItem(key, value);
    items.push(item);
    bytes += item.length;
  }
  return { items, next: undefined };
}

/** Content that waits to be cut into chunks. */
class Content {
  #parts: Uint8Array[] = [];
  #bytes = 0;

  add(part: Uint8Array): void {
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** The content of a whole chunk, once there is more than enough for it. */
  full(): Uint8Array | undefined {
    if (this.#bytes <= CHUNK_CONTENT_BYTES) return undefined;
    const all = this.rest();
    this.add(all.subarray(CHUNK_CONTENT_BYTES));
    return all.subarray(0, CHUNK_CONTENT_BYTES);
  }

  rest(): Uint8Array {
    const all = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return all;
  }
}
