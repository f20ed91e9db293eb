import type { DecimalCoin } from "../../util/index.ts";

/** How a bid is chosen: the cheapest, one provider's, or by the person at the terminal. */
export type BidChoice =
  | { readonly kind: "cheapest" }
  | { readonly kind: "provider"; readonly address: string }
  | { readonly kind: "ask" };

/** Which bid is accepted, and the highest price. */
export interface BidPolicy {
  readonly choice: BidChoice;
  /** Highest price of a group per block. */
  readonly maxPrice?: DecimalCoin;
}
