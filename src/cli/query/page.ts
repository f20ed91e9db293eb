import { fromBase64, toBase64 } from "../../util/index.ts";
import type { JsonObject } from "../../wire/index.ts";
import { type Flags, MAX_UINT64 } from "../command/flags.ts";
import { usageError } from "../errors.ts";

/** Maximum rows of one page. */
export const MAX_PAGE_ROWS = 1000n;
const DEFAULT_ROWS = 100n;

/** The page that the flags of a list ask for, as JSON of a `PageRequest`. */
export function pageRequest(flags: Flags): JsonObject {
  const limit = readLimit(flags);
  const page = flags.uint64("page", 1n);
  const offset = flags.uint64("offset");
  if (page === 0n) throw usageError("--page: pages are counted from 1");
  if (page > 1n && offset > 0n) throw usageError("--page and --offset cannot be used together");
  const key = flags.optional("page-key");
  if (key !== undefined && (page > 1n || offset > 0n)) {
    throw usageError("--page-key cannot be used together with --page or --offset");
  }
  const skipped = page > 1n ? (page - 1n) * limit : offset;
  if (skipped > MAX_UINT64) throw usageError(`${flags.label("page")}: no list has ${page} pages of ${limit} rows`);
  return {
    key: key === undefined ? null : checkKey(key, flags.label("page-key")),
    offset: skipped.toString(),
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

/** `next_key` as it was printed. Anything else would be an arbitrary position in the list. */
function checkKey(text: string, label: string): string {
  if (toBase64(bytesOf(text)) === text) return text;
  const shown = JSON.stringify(text.slice(0, 80));
  throw usageError(
    `${label}: ${shown} is not a key of a page`,
    "copy next_key of the previous page, whole and unchanged",
  );
}

function bytesOf(text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch {
    return new Uint8Array(0);
  }
}
