import { formatCoins, parseCoins } from "../../util/index.ts";
import { usageError } from "../errors.ts";
import type { Flags } from "../flags.ts";
import { inArgument, inFlag } from "../in-flag.ts";

/** Coins as messages hold them. */
export interface MessageCoin {
  readonly denom: string;
  readonly amount: string;
}

/** The coins of an argument; none of them nothing. */
export function coinsArgument(text: string, name: string, flags: Flags): MessageCoin[] {
  return positive(
    inArgument(name, () => parseCoins(text)),
    `<${name}>`,
    flags,
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
      `${name}: "${formatCoins(coins)}" is no amount above zero`,
      `write one or several, for example 5000${profile.denom}`,
    );
  }
  return coins.map(({ denom, amount }) => ({ denom, amount: amount.toString() }));
}
