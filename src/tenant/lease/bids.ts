import type { BidRecord } from "../../client/index.ts";
import type { BidPolicy } from "../session/policy.ts";
import { lowest } from "./lowest.ts";

/** Cheapest first; at equal prices the earlier bid, then the lower address, so that everybody sees the same order. */
export function rankBids(bids: readonly BidRecord[]): readonly BidRecord[] {
  return [...bids].sort(
    (a, b) =>
      compare(a.price.amount, b.price.amount) ||
      compare(a.createdAt, b.createdAt) ||
      compare(a.id.provider, b.id.provider),
  );
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : Number(a > b);
}

/** Whether the policy allows accepting the bid. */
export function isAcceptable(bid: BidRecord, { choice, maxPrice }: BidPolicy): boolean {
  if (choice.kind === "provider" && bid.id.provider !== choice.address) return false;
  if (maxPrice === undefined) return true;
  return bid.price.denom === maxPrice.denom && bid.price.amount <= maxPrice.amount;
}

/** The bids of each group, cheapest first. Groups without bids have an empty list. */
export function bidsByGroup(
  groups: readonly number[],
  bids: readonly BidRecord[],
): ReadonlyMap<number, readonly BidRecord[]> {
  const ranked = rankBids(bids);
  return new Map(groups.map((gseq) => [gseq, ranked.filter(({ id }) => id.gseq === gseq)]));
}

interface BidWindow {
  /** Height of the chain now. */
  readonly height: bigint;
  /** Groups that need a bid. */
  readonly groups: readonly number[];
  /** Bids that may be accepted. */
  readonly bids: readonly BidRecord[];
  /** Blocks to wait after the first bid of a group. */
  readonly blocks: bigint;
  /** Number of providers that could bid; once all have bid, the wait ends. */
  readonly bidders: number;
}

/** Whether bids are still collected. */
type WindowState =
  | { readonly kind: "empty"; readonly groups: readonly number[] }
  | { readonly kind: "open"; readonly until: bigint }
  | { readonly kind: "closed" };

/**
 * State of the bid window. It opens for a group with the block of its first bid and lasts some blocks more; bids of its
 * last block count. It waits for all groups, because they are leased in one transaction.
 */
export function bidWindow(window: BidWindow): WindowState {
  const ends = window.groups.map((gseq) => ({ gseq, end: groupEnd(window, gseq) }));
  const empty = ends.filter(({ end }) => end === undefined).map(({ gseq }) => gseq);
  if (empty.length > 0) return { kind: "empty", groups: empty };
  const until = -lowest(
    0n,
    ends.map(({ end = 0n }) => -end),
  );
  return window.height >= until ? { kind: "closed" } : { kind: "open", until };
}

/** Height at which the group's window closes: undefined without a bid, 0 when everybody has bid. */
function groupEnd({ bids, blocks, bidders }: BidWindow, gseq: number): bigint | undefined {
  const own = bids.filter(({ id }) => id.gseq === gseq);
  const [first, ...others] = own.map(({ createdAt }) => createdAt);
  if (first === undefined) return undefined;
  if (new Set(own.map(({ id }) => id.provider)).size >= bidders) return 0n;
  return lowest(first, others) + blocks;
}
