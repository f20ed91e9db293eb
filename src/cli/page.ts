import { fromBase64, toBase64, toUtf8 } from "../util/index.ts";
import type { JsonObject } from "../wire/index.ts";
import { usageError } from "./errors.ts";
import type { Flags } from "./flags.ts";

/** Most rows of one page. */
export const MAX_PAGE_ROWS = 1000n;
const DEFAULT_ROWS = 100n;

/** The page that the flags of a list ask for, as JSON of a `PageRequest`. */
export function pageRequest(flags: Flags): JsonObject {
  const limit = readLimit(flags);
  const page = flags.uint("page", 1n);
  const offset = flags.uint("offset");
  if (page === 0n) throw usageError("--page: pages are counted from 1");
  if (page > 1n && offset > 0n) throw usageError("--page and --offset cannot be used together");
  const key = flags.optional("page-key");
  if (key !== undefined && (page > 1n || offset > 0n)) {
    throw usageError("--page-key cannot be used together with --page or --offset");
  }
  return {
    key: key === undefined ? null : toBase64(keyBytes(key)),
    offset: (page > 1n ? (page - 1n) * limit : offset).toString(),
    limit: limit.toString(),
    count_total: flags.bool("count-total"),
    reverse: flags.bool("reverse"),
  };
}

function readLimit(flags: Flags): bigint {
  const limit = flags.uint("limit") || DEFAULT_ROWS;
  if (limit > MAX_PAGE_ROWS) throw usageError(`--limit: a page has at most ${MAX_PAGE_ROWS} rows, not ${limit}`);
  return limit;
}

/** `next_key` as it was printed, or the bytes themselves. */
function keyBytes(text: string): Uint8Array {
  try {
    const bytes = fromBase64(text);
    if (toBase64(bytes) === text) return bytes;
  } catch {
    // Not base64: the key itself.
  }
  return toUtf8(text);
}
