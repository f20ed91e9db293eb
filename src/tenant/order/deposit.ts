import type { DepositTerms } from "../../client/index.ts";
import { type DecimalCoin, decCeil, type IntCoin } from "../../util/index.ts";
import { deployErrors } from "../session/errors.ts";

/** The sum of prices in one coin. */
export function totalPrice(prices: readonly DecimalCoin[]): DecimalCoin {
  const amount = prices.reduce((sum, price) => sum + price.amount, 0n);
  return { denom: prices[0]?.denom ?? "", amount };
}

/** The least deposit for which the chain accepts a deployment and starts leases at a price per block. */
export function leastDeposit(
  price: DecimalCoin,
  { minDeposits, startBlocks }: Pick<DepositTerms, "minDeposits" | "startBlocks">,
): IntCoin {
  const minimum = minDeposits.find(({ denom }) => denom === price.denom);
  if (minimum === undefined) {
    const denoms = minDeposits.map(({ denom }) => denom).join(" or ");
    const hint = `write denom: ${denoms} under pricing in the deployment file`;
    throw deployErrors.denom(`the file's prices are in ${price.denom}, deployments are paid in ${denoms}`, { hint });
  }
  const start = decCeil(price.amount * startBlocks);
  return start > minimum.amount ? { denom: price.denom, amount: start } : minimum;
}
