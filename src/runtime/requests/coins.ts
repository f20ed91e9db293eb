import { formatCoin, type IntCoin, isDenom, sdkErrors, someCoins, tryParseInt } from "../../util/index.ts";

/** The `Coin` message: an amount is decimal text on the wire. */
export interface CoinMessage {
  readonly denom: string;
  readonly amount: string;
}

/** Reads one coin of a message. Throws `sdk/10` unless the denomination and the amount (0 or more) are well formed. */
export function readCoin(coin: CoinMessage | undefined): IntCoin {
  const denom = coin?.denom ?? "";
  const amount = tryParseInt(coin?.amount ?? "");
  if (!isDenom(denom)) throw sdkErrors.invalidCoins(`invalid denomination ${quote(denom)}`);
  if (amount === undefined || amount < 0n)
    throw sdkErrors.invalidCoins(`invalid amount ${quote(coin?.amount ?? "")} of ${denom}`);
  return { denom, amount };
}

/** Reads one coin that must be above zero. */
export function readPositiveCoin(coin: CoinMessage | undefined): IntCoin {
  const read = readCoin(coin);
  if (read.amount === 0n) throw sdkErrors.invalidCoins(`${formatCoin(read)} is not positive`);
  return read;
}

/**
 * Reads a list of coins: each positive, sorted by denomination, none twice. The empty list passes; throws `sdk/10`
 * otherwise.
 */
export function readCoins(coins: readonly CoinMessage[]): IntCoin[] {
  const read = coins.map(readPositiveCoin);
  read.forEach((coin, i) => {
    const before = read[i - 1];
    if (before === undefined || before.denom < coin.denom) return;
    const problem = before.denom === coin.denom ? `${coin.denom} appears twice` : "not sorted by denomination";
    throw sdkErrors.invalidCoins(`${someCoins(read)}: ${problem}`);
  });
  return read;
}

/** Like `readCoins`, and refuses the empty list. */
export function readSomeCoins(coins: readonly CoinMessage[]): IntCoin[] {
  if (coins.length === 0) throw sdkErrors.invalidCoins("no coins given");
  return readCoins(coins);
}

export function coinMessage(coin: IntCoin): CoinMessage {
  return { denom: coin.denom, amount: coin.amount.toString() };
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}
