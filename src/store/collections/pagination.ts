import { SvcError, sdkErrors } from "../../util/index.ts";
import { MAX_KEY_BYTES } from "../kv.ts";

/** The part of a `PageRequest` message that pagination reads; a generated message fits. */
export interface PageRequest {
  readonly key?: Uint8Array;
  readonly offset?: bigint;
  readonly limit?: bigint;
  readonly countTotal?: boolean;
  readonly reverse?: boolean;
}

/** Fits the `PageResponse` message. `nextKey` is empty at the end; `total` is 0 unless it was asked for. */
export interface PageResponse {
  readonly nextKey: Uint8Array;
  readonly total: bigint;
}

export interface Page<T> {
  readonly items: T[];
  readonly pagination: PageResponse;
}

/** Rows of a page when the request names none. */
export const DEFAULT_PAGE_LIMIT = 100n;
/** Maximum rows of one page. */
export const MAX_PAGE_LIMIT = 1000n;

/** Rows that one request may pass to skip, count or filter them: queries are bounded. */
export const MAX_ROWS_PASSED = 50_000;

/** A request with its defaults applied. */
export interface PagePlan {
  readonly key: Uint8Array | undefined;
  readonly offset: bigint;
  readonly limit: number;
  readonly countTotal: boolean;
  /** The total was requested; otherwise it is returned if it is cheap. */
  readonly needsTotal: boolean;
  readonly reverse: boolean;
}

/** Checks a request: a key and an offset together, or more than 1,000 rows, are refused. */
export function planPage(request: PageRequest = {}): PagePlan {
  const { offset = 0n, limit = 0n, reverse = false } = request;
  const key = request.key === undefined || request.key.length === 0 ? undefined : request.key;
  if (key !== undefined && offset > 0n)
    throw new SvcError(
      "sdk",
      sdkErrors.invalidRequest.code,
      "invalid request, either offset or key is expected, got both",
    );
  if (key !== undefined && key.length > MAX_KEY_BYTES) throw sdkErrors.invalidRequest("the page key is too long");
  if (limit > MAX_PAGE_LIMIT)
    throw sdkErrors.invalidRequest(`a page has at most ${MAX_PAGE_LIMIT} rows, not ${limit}`, {
      hint: "ask for fewer rows and continue with the next key",
    });
  const needsTotal = key === undefined && request.countTotal === true;
  const countTotal = needsTotal || (key === undefined && limit === 0n);
  return { key, offset, limit: Number(limit === 0n ? DEFAULT_PAGE_LIMIT : limit), countTotal, needsTotal, reverse };
}

/** One row met while paging: `open` decodes it, or returns undefined when a filter leaves it out. */
export interface PageRow<T> {
  readonly rawKey: () => Uint8Array;
  readonly open: () => T | undefined;
}

export interface PageOptions {
  /** Whether `open` can leave rows out; otherwise rows are skipped and counted without being decoded. */
  readonly filtered: boolean;
  /** After too many passed rows the page ends with the rows found so far, and the next page continues there. */
  readonly sparse?: boolean;
}

/**
 * Takes one page from rows that begin at the plan's key. The next key is the first row behind the page's last. Throws
 * `sdk/18` when it would have to pass too many rows; an unrequested total is then left out, and a sparse page ends
 * there.
 */
export function takePage<T>(
  rows: Iterable<PageRow<T>>,
  plan: PagePlan,
  { filtered, sparse = false }: PageOptions,
): Page<T> {
  const items: T[] = [];
  let nextKey: Uint8Array | undefined;
  let hits = 0n;
  let walked = 0;
  let { countTotal } = plan;
  for (const row of rows) {
    const full = items.length === plan.limit;
    if (full && nextKey === undefined) nextKey = row.rawKey();
    if (walked - items.length >= MAX_ROWS_PASSED) {
      const mayEnd = full || (sparse && hits >= plan.offset);
      if (!mayEnd || plan.needsTotal) throw tooManyRows();
      nextKey ??= row.rawKey();
      countTotal = false;
    }
    if (nextKey !== undefined && !countTotal) break;
    walked += 1;
    const wanted = hits >= plan.offset && !full;
    const item = wanted || filtered ? row.open() : undefined;
    if (item === undefined && (wanted || filtered)) continue;
    hits += 1n;
    if (wanted && item !== undefined) items.push(item);
  }
  return { items, pagination: { nextKey: nextKey ?? new Uint8Array(0), total: countTotal ? hits : 0n } };
}

function tooManyRows(): Error {
  return sdkErrors.invalidRequest(`more than ${MAX_ROWS_PASSED} rows would be walked past`, {
    hint: "continue with the page key instead of an offset, leave the total out, or filter more narrowly",
  });
}
