import { join } from "node:path";
import type { MarketReader } from "../../client/index.ts";
import { formatDecShort } from "../../util/index.ts";
import { formatLeaseId } from "../../wire/index.ts";
import type { PriceChange } from "../pricing/index.ts";
import { askBids, askFacts, askPrices } from "./ask.ts";
import type { ProviderFacts, TriedPrices } from "./facts.ts";

/** A lease of the provider with its earnings, as the chain has them. Amounts are texts in the lease's denomination. */
export interface LeaseEarnings {
  /** `<owner>/<dseq>/<gseq>/<oseq>/<provider>`. */
  readonly lease: string;
  readonly denom: string;
  /** Per block. */
  readonly price: string;
  /** Paid out to the provider. */
  readonly withdrawn: string;
  /** Earned but not yet paid out. */
  readonly accrued: string;
}

/** Facts for an operator's page. */
export interface OperatorFacts extends ProviderFacts {
  /** Active leases; undefined if the chain was not asked or did not answer. */
  readonly earnings?: readonly LeaseEarnings[];
}

/** Folder of the daemon in a home. */
const FOLDER = "provider";

/** Facts of the provider that runs in the home; undefined if none does. Rejects if the provider does not answer. */
export async function readOperatorFacts(
  home: string,
  market?: Pick<MarketReader, "leases">,
): Promise<OperatorFacts | undefined> {
  const facts = await askFacts(join(home, FOLDER));
  if (facts === undefined || market === undefined) return facts;
  const leases = await market.leases({ provider: facts.provider, state: "active" }).catch(() => undefined);
  if (leases === undefined) return facts;
  const earnings = leases.map(({ id, price, payment }) => ({
    lease: formatLeaseId(id),
    denom: price.denom,
    price: formatDecShort(price.amount),
    withdrawn: `${payment.withdrawn}`,
    accrued: `${payment.accrued}`,
  }));
  return { ...facts, earnings };
}

/**
 * Changes prices of the provider that runs in the home, for bids from now on; false if none runs. A change holds until the flags of prices
 * change. Rejects with the provider's sentence if they cannot be.
 */
export function changePrices(home: string, change: PriceChange): Promise<boolean> {
  return askPrices(join(home, FOLDER), change);
}

/** Bids on the latest orders as a change would make them; nothing is changed. Undefined if no provider runs, and rejects as `changePrices`. */
export function tryPrices(home: string, change: PriceChange): Promise<TriedPrices | undefined> {
  return askBids(join(home, FOLDER), change);
}
