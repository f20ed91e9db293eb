import type { BlockRecord, ChainSource, ChainStatus } from "../../../engine/index.ts";
import { refuse } from "./method.ts";

/** The height that a call means: the given one, if it is stored, or the latest. */
export function heightIn(
  { height: last, base }: ChainStatus,
  asked: bigint | undefined,
  latest: bigint = last,
): bigint {
  if (asked === undefined) return latest;
  if (asked <= 0n) throw refuse(`height must be greater than 0, but got ${asked}`);
  if (asked > latest) {
    throw refuse(`height ${asked} must be less than or equal to the current blockchain height ${latest}`);
  }
  if (asked < base) throw refuse(`height ${asked} is not available, lowest height is ${base}`);
  return asked;
}

/** The block of a height, or the latest. */
export async function recordAt(chain: ChainSource, height: bigint | undefined): Promise<BlockRecord> {
  const record = await chain.blocks.record(heightIn(await chain.status(), height));
  if (record === undefined) throw refuse("there is no block yet; the first one comes within a block interval");
  return record;
}

const DEFAULT_PER_PAGE = 30;
const MAX_PER_PAGE = 100;

/** Page size of a call; too large a size means the largest, as in the reference. */
export function perPageOf(value: bigint | undefined): number {
  if (value === undefined || value < 1n) return DEFAULT_PER_PAGE;
  return value > BigInt(MAX_PER_PAGE) ? MAX_PER_PAGE : Number(value);
}

/** Page number of a call, from 1. */
export function pageOf(value: bigint | undefined): number {
  if (value === undefined) return 1;
  if (value < 1n || value > 1_000_000n) throw refuse(`page should be within [1, 1000000] range, given ${value}`);
  return Number(value);
}
