import type { BidRecord } from "../../client/index.ts";
import type { BidPolicy } from "../session/policy.ts";

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
