import { decFromInt, decMul, decQuo, type IntCoin, sumCoins } from "../../../util/index.ts";

/** How coins vest: evenly, all at the end, at the end of each period, or never. */
export type VestingKind = "continuous" | "delayed" | "periodic" | "permanent";

/** Coins that vest when so many seconds have passed since the period before. */
export interface VestingPeriod {
  readonly length: bigint;
  readonly amount: readonly IntCoin[];
}

/** When the coins of an account vest. Times are seconds since 1970. */
export interface VestingSchedule {
  readonly kind: VestingKind;
  /** All coins that were locked at first, sorted by denomination. */
  readonly original: readonly IntCoin[];
  /** 0 where the kind has no beginning. */
  readonly start: bigint;
  /** 0 where they never vest. */
  readonly end: bigint;
  /** Only for the kind `periodic`. */
  readonly periods: readonly VestingPeriod[];
}

/** Delegated coins of an account; locked coins are delegated first. */
export interface VestingDelegated {
  readonly free: readonly IntCoin[];
  readonly vesting: readonly IntCoin[];
}

/** Most periods of one account. */
export const MAX_VESTING_PERIODS = 500;

/** Most coins in all periods of an account together. */
export const MAX_PERIOD_COINS = 1000;

/** Most denominations of an account's locked coins. */
export const MAX_VESTING_DENOMS = 100;

/** How much of an amount has vested between two times, evenly. */
export function evenlyVested(
  amount: bigint,
  { start, end }: Pick<VestingSchedule, "start" | "end">,
  now: bigint,
): bigint {
  const part = decQuo(decFromInt(now - start), decFromInt(end - start));
  return roundInt(decMul(decFromInt(amount), part));
}

/** The nearest whole number; exactly between two the even one wins. */
function roundInt(value: bigint): bigint {
  const one = decFromInt(1n);
  const [whole, rest] = [value / one, value % one];
  const isUp = rest * 2n > one || (rest * 2n === one && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}

/** The delegated coins after a delegation: currently locked coins are delegated first. */
export function withDelegation(
  { free, vesting }: VestingDelegated,
  coins: readonly IntCoin[],
  locked: readonly IntCoin[],
): VestingDelegated {
  const ofVesting = coins.map(({ denom, amount }) => ({ denom, amount: min(amount, amountOf(locked, denom)) }));
  return { free: sumCoins(free, subtractCoins(coins, ofVesting)), vesting: sumCoins(vesting, ofVesting) };
}

/** The delegated coins after an undelegation: free coins return first. */
export function withUndelegation({ free, vesting }: VestingDelegated, coins: readonly IntCoin[]): VestingDelegated {
  return { free: subtractCoins(free, coins), vesting: subtractCoins(vesting, subtractCoins(coins, free)) };
}

/** The difference by denomination, without what would be zero or less. */
export function subtractCoins(from: readonly IntCoin[], less: readonly IntCoin[]): IntCoin[] {
  return from
    .map(({ denom, amount }) => ({ denom, amount: amount - amountOf(less, denom) }))
    .filter(({ amount }) => amount > 0n);
}

export function amountOf(coins: readonly IntCoin[], denom: string): bigint {
  return coins.find((coin) => coin.denom === denom)?.amount ?? 0n;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The fault of a schedule, as a sentence; undefined if it is valid. */
export function scheduleProblem(schedule: VestingSchedule): string | undefined {
  const { kind, original, start, end } = schedule;
  if (start < 0n || end < 0n) return "start_time and end_time must not be negative";
  if (start > MAX_TIME || end > MAX_TIME) return `start_time and end_time must be at most ${MAX_TIME}`;
  if (original.length > MAX_VESTING_DENOMS)
    return `original_vesting: at most ${MAX_VESTING_DENOMS} denominations can be locked`;
  if (kind === "permanent") return end === 0n ? undefined : "end_time: permanently locked coins have none";
  if (kind === "delayed") return undefined;
  if (start >= end) return `start_time ${start} must be before end_time ${end}`;
  return kind === "periodic" ? periodsProblem(schedule) : undefined;
}

/** 9999-12-31T23:59:59Z. */
const MAX_TIME = 253_402_300_799n;

function periodsProblem({ original, start, end, periods }: VestingSchedule): string | undefined {
  const coins = periods.reduce((count, { amount }) => count + amount.length, 0);
  if (periods.length > MAX_VESTING_PERIODS) return `vesting_periods: at most ${MAX_VESTING_PERIODS} are allowed`;
  if (coins > MAX_PERIOD_COINS) return `vesting_periods: at most ${MAX_PERIOD_COINS} coins in all are allowed`;
  const bad = periods.findIndex(({ length }) => length < 1n);
  if (bad >= 0) return `vesting_periods[${bad}]: the length must be at least one second`;
  if (start + periods.reduce((sum, { length }) => sum + length, 0n) !== end)
    return "end_time must be start_time and the lengths of all vesting_periods";
  const sum = sumCoins(periods.flatMap(({ amount }) => amount));
  const isWhole = subtractCoins(sum, original).length === 0 && subtractCoins(original, sum).length === 0;
  return isWhole ? undefined : "original_vesting must be the sum of all vesting_periods";
}

/** A periodic schedule from its periods. */
export function periodicSchedule(start: bigint, periods: readonly VestingPeriod[]): VestingSchedule {
  const end = start + periods.reduce((sum, { length }) => sum + length, 0n);
  return { kind: "periodic", start, end, periods, original: sumCoins(periods.flatMap(({ amount }) => amount)) };
}
