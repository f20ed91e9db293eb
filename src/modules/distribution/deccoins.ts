import {
  type Dec,
  type DecimalCoin,
  decFromInt,
  decMul,
  decMulTruncate,
  decQuoTruncate,
  decTruncate,
  formatDec,
  type IntCoin,
  sdkErrors,
} from "../../util/index.ts";

/** Amounts with 18 digits by denomination: sorted, each once, without zeros. */
export type DecCoins = readonly DecimalCoin[];

/** As messages hold them: the digits of the amount as text. */
interface DecCoinMessage {
  readonly denom: string;
  readonly amount: string;
}

export function readDecCoins(coins: readonly DecCoinMessage[]): DecCoins {
  return coins.map(({ denom, amount }) => ({ denom, amount: BigInt(amount) }));
}

export function decCoinMessages(coins: DecCoins): { denom: string; amount: string }[] {
  return coins.map(({ denom, amount }) => ({ denom, amount: `${amount}` }));
}

/** `0.500000000000000000utoken,2.000000000000000000uusd`. */
export function decCoinsText(coins: DecCoins): string {
  return coins.map(({ denom, amount }) => `${formatDec(amount)}${denom}`).join(",");
}

export function fromCoins(coins: readonly IntCoin[]): DecCoins {
  return coins.map(({ denom, amount }) => ({ denom, amount: decFromInt(amount) }));
}

export function plus(a: DecCoins, b: DecCoins): DecCoins {
  if (b.length === 0) return a;
  const sums = new Map(a.map(({ denom, amount }) => [denom, amount]));
  for (const { denom, amount } of b) sums.set(denom, (sums.get(denom) ?? 0n) + amount);
  const sorted = [...sums].sort(([x], [y]) => (x < y ? -1 : 1));
  return sorted.flatMap(([denom, amount]) => (amount === 0n ? [] : [{ denom, amount }]));
}

/** Throws `sdk/35` if the result would be negative. */
export function minus(a: DecCoins, b: DecCoins): DecCoins {
  const left = plus(
    a,
    each(b, (amount) => -amount),
  );
  if (left.some(({ amount }) => amount < 0n)) throw sdkErrors.logic("more rewards would be taken than there are");
  return left;
}

/** The product, rounded half to even. */
export function times(coins: DecCoins, factor: Dec): DecCoins {
  return each(coins, (amount) => decMul(amount, factor));
}

export function timesTruncated(coins: DecCoins, factor: Dec): DecCoins {
  return each(coins, (amount) => decMulTruncate(amount, factor));
}

export function dividedTruncated(coins: DecCoins, divisor: Dec): DecCoins {
  return each(coins, (amount) => decQuoTruncate(amount, divisor));
}

/** The smaller amount of each denomination that both lists have. */
export function smaller(a: DecCoins, b: DecCoins): DecCoins {
  const others = new Map(b.map(({ denom, amount }) => [denom, amount]));
  return a.flatMap(({ denom, amount }) => {
    const other = others.get(denom) ?? 0n;
    const least = amount < other ? amount : other;
    return least === 0n ? [] : [{ denom, amount: least }];
  });
}

/** Whole coins, and the remaining fractions. */
export function split(coins: DecCoins): { readonly whole: readonly IntCoin[]; readonly rest: DecCoins } {
  const whole = coins.flatMap(({ denom, amount }) => {
    const count = decTruncate(amount);
    return count === 0n ? [] : [{ denom, amount: count }];
  });
  return { whole, rest: minus(coins, fromCoins(whole)) };
}

function each(coins: DecCoins, change: (amount: Dec) => Dec): DecCoins {
  return coins.flatMap(({ denom, amount }) => {
    const changed = change(amount);
    return changed === 0n ? [] : [{ denom, amount: changed }];
  });
}
