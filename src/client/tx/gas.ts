import { DEC_ONE, type Dec, type DecimalCoin, decCeil, decFloor, type IntCoin, tryParseDec } from "../../util/index.ts";
import { clientErrors } from "../errors.ts";

/** Gas of a transaction by default. */
export const DEFAULT_GAS = 200_000n;
export const DEFAULT_GAS_ADJUSTMENT: Dec = DEC_ONE;

/** A fixed limit, or the estimate of a simulation. */
export type GasSetting = bigint | "auto";

const MAX_GAS = (1n << 63n) - 1n;

/** Reads a `--gas` value: an integer, `auto`, or nothing for the default. */
export function parseGas(text: string): GasSetting {
  if (text === "") return DEFAULT_GAS;
  if (text === "auto") return "auto";
  const gas = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (/^\d+$/.test(text) && (gas === undefined || gas > MAX_GAS))
    throw clientErrors.gas(`${quote(text)} is more gas than any transaction may have`);
  if (gas === undefined || gas > MAX_GAS)
    throw clientErrors.gas(`gas must be either integer or auto, not ${quote(text)}`);
  return gas;
}

/** Reads a `--gas-adjustment` value: a positive decimal. */
export function parseGasAdjustment(text: string): Dec {
  const value = tryParseDec(text);
  if (value === undefined || value <= 0n)
    throw clientErrors.gas(`the gas adjustment ${quote(text)} is not a positive number`);
  return value;
}

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

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}
