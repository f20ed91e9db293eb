import { errorText, formatCoin, formatCoins, parseCoin, parseCoins } from "../../util/index.ts";
import type { Flags } from "../command/flags.ts";
import { inArgument, inFlag } from "../command/in-flag.ts";
import type { NetworkProfile } from "../command/profile.ts";
import { usageError } from "../errors.ts";

/** Coins as messages hold them. */
export interface MessageCoin {
  readonly denom: string;
  readonly amount: string;
}

/** The coins of an argument; each amount is above zero. */
export function coinsArgument(text: string, name: string, flags: Flags): MessageCoin[] {
  return positive(
    inArgument(name, () => parseCoins(text)),
    `<${name}>`,
    flags,
  );
}

/** One coin of an argument, an amount above zero. */
export function coinArgument(text: string, name: string, flags: Flags): MessageCoin {
  return readCoin(text, `<${name}>`, flags.profile);
}

/** One coin above zero; `label` names the text in errors. */
export function readCoin(text: string, label: string, { denom }: Pick<NetworkProfile, "denom">): MessageCoin {
  let coin: ReturnType<typeof parseCoin>;
  try {
    coin = parseCoin(text);
  } catch (error) {
    throw usageError(`${label}: ${errorText(error)}`);
  }
  if (coin.amount > 0n) return { denom: coin.denom, amount: coin.amount.toString() };
  throw usageError(
    `${label}: "${formatCoin(coin)}" is not an amount above zero`,
    `write one, for example 5000${denom}`,
  );
}

/** The coins of a flag; undefined when it is not given. */
export function coinsFlag(flags: Flags, name: string): MessageCoin[] | undefined {
  const text = flags.optional(name);
  if (text === undefined) return undefined;
  return positive(
    inFlag(flags, name, () => parseCoins(text)),
    flags.label(name),
    flags,
  );
}

function positive(coins: ReturnType<typeof parseCoins>, name: string, { profile }: Flags): MessageCoin[] {
  if (coins.length === 0 || coins.some(({ amount }) => amount === 0n)) {
    throw usageError(
      `${name}: "${formatCoins(coins)}" is not an amount above zero`,
      `write one or several, for example 5000${profile.denom}`,
    );
  }
  return coins.map(({ denom, amount }) => ({ denom, amount: amount.toString() }));
}
