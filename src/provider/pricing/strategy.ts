import type { Dec } from "../../util/index.ts";
import type { RowNeed } from "../inventory/index.ts";

/** Input of a strategy: the rows of an order, its tenant and the tenant's maximum price. */
export interface PriceRequest {
  readonly owner: string;
  readonly rows: readonly RowNeed[];
  readonly denom: string;
  /** Highest price per block for the whole group, scaled 10^18. */
  readonly maxPrice: Dec;
}

/** Prices an order per block for the whole group, scaled 10^18. Rejects with one sentence if it has no price. */
export interface PricingStrategy {
  /** One line for the start of the log. */
  readonly description: string;
  price(request: PriceRequest): Promise<Dec>;
}
