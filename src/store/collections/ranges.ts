import { sdkErrors } from "../../util/index.ts";
import { encodeKey, type KeyCodec } from "../codec/keys.ts";
import { prefixEnd } from "../kv.ts";
import type { PagePlan } from "./pagination.ts";

/**
 * A range of typed keys: within a prefix, from `start` (included) to `end` (excluded). For tuples start and end are
 * whole keys.
 */
export interface TypedRange<K, P> {
  readonly prefix?: P;
  readonly start?: K;
  readonly end?: K;
  readonly reverse?: boolean;
}

/** A range with its bounds in store keys; `base` is the length of the bytes all its keys share. */
export interface StoreRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array | undefined;
  readonly reverse: boolean;
  readonly base: number;
}

/** The store range of a typed one, for keys that follow the byte `part`. */
export function typedRange<K, P>(part: number, codec: KeyCodec<K, P>, range: TypedRange<K, P>): StoreRange {
  const base = prefixed(part, range.prefix === undefined ? new Uint8Array(0) : codec.prefix(range.prefix));
  return {
    start: range.start === undefined ? base : prefixed(part, encodeKey(codec, range.start)),
    end: range.end === undefined ? prefixEnd(base) : prefixed(part, encodeKey(codec, range.end)),
    reverse: range.reverse === true,
    base: base.length,
  };
}

/**
 * Narrows a range to the rows of a page plan; `read` throws unless the bytes are a store key of the range's list.
 * `skip` bytes of each store key are not part of the page key.
 */
export function pageRange(
  whole: StoreRange,
  plan: PagePlan,
  read: (key: Uint8Array) => unknown,
): { readonly range: StoreRange; readonly skip: number } {
  const range = { ...whole, reverse: plan.reverse };
  if (plan.key === undefined) return { range, skip: whole.base };
  const from = Buffer.concat([whole.start.subarray(0, whole.base), plan.key]);
  checkPageKey(from, read);
  // Reading backwards the page key itself is the first row, so the excluded bound is the next possible key.
  if (plan.reverse) return { range: { ...range, end: Buffer.concat([from, Uint8Array.of(0)]) }, skip: whole.base };
  return { range: { ...range, start: from }, skip: whole.base };
}

/** A damaged key would be a place in front of the list, and the page its first one. */
function checkPageKey(key: Uint8Array, read: (key: Uint8Array) => unknown): void {
  try {
    read(key);
  } catch {
    throw sdkErrors.invalidRequest("the page key does not come from this list", {
      hint: "copy next_key of the previous page, whole and unchanged",
    });
  }
}

export function prefixed(part: number, rest: Uint8Array): Uint8Array {
  const out = new Uint8Array(1 + rest.length);
  out[0] = part;
  out.set(rest, 1);
  return out;
}
