import { DEC_ONE, type Dec, type DecimalCoin, decCeil, decFloor, type IntCoin } from "../../util/index.ts";

/** Gas of a transaction by default. */
export const DEFAULT_GAS = 200_000n;
export const DEFAULT_GAS_ADJUSTMENT: Dec = DEC_ONE;

/** Largest estimate of a node that is believed: the gas of a whole block by default. */
export const MAX_ESTIMATE = 30_000_000n;

/** A fixed limit, or the estimate of a simulation. */
export type GasSetting = bigint | "auto";

/** The gas limit from a simulation: the gas used times the adjustment, cut to an integer. */
export function adjustGas(gasUsed: bigint, adjustment: Dec): bigint {
  return decFloor(gasUsed * adjustment);
}

/** The line that reports an estimate. */
export function gasEstimateText(gas: bigint): string {
  return `gas estimate: ${gas}`;
}

/** Fees at the given prices: for each the price times the gas limit, rounded up. Sorted by denomination. */
export function feesFromPrices(prices: readonly DecimalCoin[], gasLimit: bigint): IntCoin[] {
  return prices
    .map(({ denom, amount }) => ({ denom, amount: decCeil(amount * gasLimit) }))
    .filter(({ amount }) => amount > 0n)
    .sort((a, b) => (a.denom < b.denom ? -1 : 1));
}
