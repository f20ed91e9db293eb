import {
  blockSeconds,
  type ChainClient,
  type DepositTerms,
  gatewayClientErrors,
  marketReader,
} from "../../client/index.ts";
import { groupPrice } from "../../sdl/index.ts";
import { type GroupEstimate, totalPrice } from "../../tenant/index.ts";
import {
  type DecimalCoin,
  DISPLAY_DENOM,
  DISPLAY_EXPONENT,
  decFromInt,
  isOneOf,
  NATIVE_DENOM,
  tryParseDec,
} from "../../util/index.ts";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";

/** Requirements of the chain, and the seconds between its blocks. */
export interface Terms extends DepositTerms {
  readonly blockSeconds: number;
}

export async function loadTerms(chain: ChainClient): Promise<Terms> {
  const [terms, seconds] = await Promise.all([marketReader(chain.query).depositTerms(), blockSeconds(chain)]);
  return { ...terms, blockSeconds: seconds };
}

/** Whether a provider would bid on a group, and at which price. */
export type Verdict =
  | { readonly kind: "asking" }
  | { readonly kind: "yes"; readonly price: DecimalCoin }
  | { readonly kind: "no"; readonly reason: string }
  | { readonly kind: "unknown"; readonly error?: unknown };

/** A price in another coin, or above the file's, can be no bid: nothing is known then. */
export function verdictOf(group: GroupSpec, { screening, error }: Pick<GroupEstimate, "screening" | "error">): Verdict {
  if (error !== undefined) return { kind: "unknown", error };
  if (!screening.bid) return { kind: "no", reason: screening.reason };
  const most = groupPrice(group);
  const isBid = screening.price.denom === most.denom && screening.price.amount <= most.amount;
  return isBid ? { kind: "yes", price: screening.price } : { kind: "unknown" };
}

/** Whether a group can have bids only of providers that the page cannot reach: a lease with such a provider is of no use to it. */
export function isOutOfReach(groups: readonly (readonly Verdict[])[]): boolean {
  return groups.some((verdicts) => {
    return verdicts.some(isBeyond) && verdicts.every((verdict) => verdict.kind === "no" || isBeyond(verdict));
  });
}

function isBeyond(verdict: Verdict): boolean {
  return verdict.kind === "unknown" && isOneOf([gatewayClientErrors.noWebAddress], verdict.error);
}

/** The sum of each group's lowest price; undefined while a group has none. */
export function cheapest(groups: readonly (readonly Verdict[])[]): DecimalCoin | undefined {
  const prices = groups.map(lowest).filter((price) => price !== undefined);
  return prices.length === groups.length && prices.length > 0 ? totalPrice(prices) : undefined;
}

function lowest(verdicts: readonly Verdict[]): DecimalCoin | undefined {
  const prices = verdicts.flatMap((verdict) => (verdict.kind === "yes" ? [verdict.price] : []));
  return prices.sort((a, b) => (a.amount < b.amount ? -1 : 1))[0];
}

const DEC_PLACES = 18;

/** How amounts of a denomination are written: in which unit, with how many decimal places. */
export function unitOf(denom: string): { readonly name: string; readonly places: number } {
  return denom === NATIVE_DENOM ? { name: DISPLAY_DENOM, places: DISPLAY_EXPONENT } : { name: denom, places: 0 };
}

/** An amount above zero as a person writes it in that unit; undefined for anything else. */
export function readAmount(text: string, places: number): bigint | undefined {
  const value = tryParseDec(text.trim());
  const smallest = 10n ** BigInt(DEC_PLACES - places);
  if (value === undefined || value <= 0n || value % smallest !== 0n) return undefined;
  return value / smallest;
}

/** Units of time in milliseconds, the longest first. */
const UNITS = { days: 86_400_000n, hours: 3_600_000n, minutes: 60_000n } as const;

/** How long a deposit pays for something, in tenths of the longest unit that fits. */
export interface Lasting {
  readonly unit: keyof typeof UNITS;
  readonly tenths: bigint;
}

/** The time of the whole blocks that a deposit pays for, rounded down; undefined at a price of zero. */
export function lasting(deposit: bigint, price: DecimalCoin, seconds: number): Lasting | undefined {
  if (price.amount === 0n) return undefined;
  const blocks = decFromInt(deposit) / price.amount;
  const milliseconds = blocks * BigInt(Math.max(1, Math.round(seconds * 1000)));
  const unit = milliseconds >= UNITS.days ? "days" : milliseconds >= UNITS.hours ? "hours" : "minutes";
  return { unit, tenths: (milliseconds * 10n) / UNITS[unit] };
}
