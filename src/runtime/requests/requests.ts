import { moduleAddress } from "../../crypto/index.ts";
import { type ErrorFactory, sdkErrors } from "../../util/index.ts";
import { encodeAddress, isAddress } from "../../wire/index.ts";
import { type CoinMessage, readPositiveCoin } from "./coins.ts";
import { entryProblems } from "./entries.ts";

/** Throws the given error unless the text is the address of an account; `field` says where it is. */
export function checkAddress(field: string, text: string, refuse: ErrorFactory = sdkErrors.invalidAddress): void {
  if (!isAddress(text)) throw refuse(`${field} ${JSON.stringify(text.slice(0, 100))} is not an account address`);
}

/** The module that carries out proposals that have passed. */
const AUTHORITY = "gov";

/** Throws `sdk/4` unless the signer is the account of governance, the only one that changes parameters. */
export function checkAuthority(signer: string): void {
  const expected = encodeAddress(moduleAddress(AUTHORITY));
  if (signer !== expected) throw sdkErrors.unauthorized(`invalid authority; expected ${expected}, got ${signer}`);
}

/**
 * The state that a filter names, from an enumeration with 0 for unspecified; undefined for the empty text. Throws the
 * given error with the possible names.
 */
export function readState<S extends number>(
  text: string,
  states: Readonly<Record<string, S | string>>,
  refuse: ErrorFactory = sdkErrors.invalidRequest,
): S | undefined {
  if (text === "") return undefined;
  const found = states[text];
  if (typeof found === "number" && found !== 0) return found;
  const named = Object.entries(states).filter(([, value]) => typeof value === "number" && value !== 0);
  const names = named.map(([name]) => name);
  const list = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  throw refuse(`unknown state ${JSON.stringify(text.slice(0, 40))}: write ${list}`);
}

/** Limit of the list that every message with a minimum amount walks. */
const MAX_MINIMUMS = 100;

/** Faults of a parameter that lists minimum amounts, one for each accepted denomination. */
export function minimumsProblems(name: string, coins: readonly CoinMessage[]): string[] {
  if (coins.length === 0) return [`${name}: there must be at least one`];
  if (coins.length > MAX_MINIMUMS) return [`${name}: there may be at most ${MAX_MINIMUMS}`];
  return entryProblems(name, coins, (coin) => readPositiveCoin(coin).denom);
}
