import type { DecimalCoin } from "../../util/index.ts";
import type { BidRecord } from "./market.ts";

/** How a bid is chosen: the cheapest, one provider's, or by the person at the terminal. */
export type BidChoice =
  | { readonly kind: "cheapest" }
  | { readonly kind: "provider"; readonly address: string }
  | { readonly kind: "ask" };

/** Which bid is taken, and the highest price. */
export interface BidPolicy {
  readonly choice: BidChoice;
  /** Highest price of a group per block. */
  readonly maxPrice?: DecimalCoin;
}

/** Cheapest first; of equal prices the earlier bid, then the lower address, so that everybody sees one order. */
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

/** Whether the policy allows taking the bid. */
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
