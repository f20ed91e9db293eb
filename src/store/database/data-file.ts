import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";
import { storeErrors } from "../errors.ts";

/** Marks a page that begins an LMDB file; the first two have it, and the one of the later transaction counts. */
const MAGIC = 0xbeefc0de;
/** Where a meta page has its fields, in bytes. */
const MAGIC_AT = 24;
const PAGE_SIZE_AT = 48;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const META_BYTES = 160;

interface Meta {
  readonly pageSize: number;
  readonly lastPage: bigint;
  readonly transaction: bigint;
}

/**
 * Keeps LMDB from crashing on a data file: it maps the file and reads where the file says that pages are, also behind its
 * end. A file that is not LMDB's is refused. One that is shorter than it says is extended: intact databases can be
 * (pages that a transaction took and gave back are counted but never written), and in a truncated one the missing part
 * then reads as damage.
 */
export function checkDataFile(path: string): void {
  if (!existsSync(path)) return;
  const file = openSync(path, "r+");
  try {
    const size = BigInt(fstatSync(file).size);
    if (size === 0n) return;
    const first = metaAt(file, 0);
    const second = first === undefined ? undefined : metaAt(file, first.pageSize);
    if (first === undefined || second === undefined) throw storeErrors.damaged(`${path} is not a database`);
    const { lastPage, pageSize } = first.transaction > second.transaction ? first : second;
    const wanted = (lastPage + 1n) * BigInt(pageSize);
    if (wanted > size) ftruncateSync(file, Number(wanted));
  } finally {
    closeSync(file);
  }
}

/** The fields of a meta page, in the byte order of this machine. */
function metaAt(file: number, position: number): Meta | undefined {
  const bytes = new Uint8Array(META_BYTES);
  if (readSync(file, bytes, 0, META_BYTES, position) < META_BYTES) return undefined;
  const words = new Uint32Array(bytes.buffer);
  const longs = new BigUint64Array(bytes.buffer);
  if (words[MAGIC_AT / 4] !== MAGIC) return undefined;
  return {
    pageSize: words[PAGE_SIZE_AT / 4] ?? 0,
    lastPage: longs[LAST_PAGE_AT / 8] ?? 0n,
    transaction: longs[TRANSACTION_AT / 8] ?? 0n,
  };
}
