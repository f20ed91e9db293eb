import { type Dec, formatDecShort, tryParseDec, tryParseInt } from "./decimal.ts";

/** An amount in the smallest unit of one denomination. */
export interface IntCoin {
  readonly denom: string;
  readonly amount: bigint;
}

/** A price: decimal amount (scaled 10^18) of one denomination. */
export interface DecimalCoin {
  readonly denom: string;
  readonly amount: Dec;
}

const DENOM = "[a-zA-Z][a-zA-Z0-9/:._-]{2,127}";
const DENOM_PATTERN = new RegExp(`^${DENOM}$`);
const COIN_PATTERN = new RegExp(`^(\\d{1,78})\\s*(${DENOM})$`);
const DEC_COIN_PATTERN = new RegExp(`^(\\d{1,78}(?:\\.\\d{1,18})?)\\s*(${DENOM})$`);
/** An amount whose only fault is too many digits. */
const LONG_COIN_PATTERN = new RegExp(`^(\\d{78,})(?:\\.\\d{1,18})?\\s*${DENOM}$`);

function coinFault(kind: "coin" | "price", text: string): Error {
  if (LONG_COIN_PATTERN.test(text.trim()))
    return new Error(
      `the amount of "${text.slice(0, 20)}..." is too large: amounts are below 2^256, which has 78 digits`,
    );
  const form = kind === "coin" ? "an integer amount" : "a decimal amount";
  const example = kind === "coin" ? "5000utoken" : "0.025utoken";
  return new Error(`invalid ${kind} "${text.slice(0, 80)}": write ${form} and a denomination, for example ${example}`);
}

export function isDenom(text: string): boolean {
  return DENOM_PATTERN.test(text);
}

/** Parses `5000000utoken`. Throws one clear sentence. */
export function parseCoin(text: string): IntCoin {
  const match = COIN_PATTERN.exec(text.trim());
  const amount = match?.[1] === undefined ? undefined : tryParseInt(match[1].replace(/^0+(?=\d)/, ""));
  if (match?.[2] === undefined || amount === undefined) throw coinFault("coin", text);
  return { denom: match[2], amount };
}

/** Parses a comma-separated list; sorted by denomination, duplicates refused, empty text is the empty list. */
export function parseCoins(text: string): IntCoin[] {
  if (text.trim() === "") return [];
  const coins = text.split(",").map(parseCoin);
  coins.sort((a, b) => (a.denom < b.denom ? -1 : 1));
  coins.forEach((coin, i) => {
    if (i > 0 && coins[i - 1]?.denom === coin.denom)
      throw new Error(`duplicate denomination ${coin.denom} in "${text}"`);
  });
  return coins;
}

/** Parses `0.0025utoken`. */
export function parseDecCoin(text: string): DecimalCoin {
  const match = DEC_COIN_PATTERN.exec(text.trim());
  const amount = match?.[1] === undefined ? undefined : tryParseDec(match[1]);
  if (match?.[2] === undefined || amount === undefined) throw coinFault("price", text);
  return { denom: match[2], amount };
}

/** Reads a comma-separated list of decimal coins; empty text is the empty list. Throws one clear sentence. */
export function parseDecCoins(text: string): DecimalCoin[] {
  const coins = text.trim() === "" ? [] : text.split(",").map(parseDecCoin);
  const denoms = coins.map(({ denom }) => denom);
  const twice = denoms.find((denom, at) => denoms.indexOf(denom) !== at);
  if (twice !== undefined) throw new Error(`the list names ${twice} twice: write one amount of each denomination`);
  return coins;
}

/** Adds up coins by denomination: sorted, without zeros. */
export function sumCoins(...lists: readonly (readonly IntCoin[])[]): IntCoin[] {
  const sums = new Map<string, bigint>();
  for (const { denom, amount } of lists.flat()) sums.set(denom, (sums.get(denom) ?? 0n) + amount);
  return [...sums]
    .filter(([, amount]) => amount !== 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([denom, amount]) => ({ denom, amount }));
}

/** The rest of coins after others are taken: sorted, without zeros; undefined if they are not enough. */
export function subtractCoins(from: readonly IntCoin[], taken: readonly IntCoin[]): IntCoin[] | undefined {
  const left = sumCoins(
    from,
    taken.map(({ denom, amount }) => ({ denom, amount: -amount })),
  );
  return left.some(({ amount }) => amount < 0n) ? undefined : left;
}

/** `5000000utoken`. */
export function formatCoin(coin: { denom: string; amount: bigint | string }): string {
  return `${coin.amount}${coin.denom}`;
}

/** `5000000utoken,10stake`, in the given order. */
export function formatCoins(coins: readonly { denom: string; amount: bigint | string }[]): string {
  return coins.map(formatCoin).join(",");
}

/** Letters of a list of coins in a refusal. */
const MAX_TOLD = 200;

/** The beginning of such a list: a refusal must not repeat thousands of coins. */
export function someCoins(coins: readonly { denom: string; amount: bigint | string }[]): string {
  return formatCoins(coins).slice(0, MAX_TOLD);
}

/** `0.025utoken`, without trailing zeros. */
export function formatDecCoin(coin: DecimalCoin): string {
  return `${formatDecShort(coin.amount)}${coin.denom}`;
}
