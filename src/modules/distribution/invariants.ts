import type { Context, Invariant } from "../../runtime/index.ts";
import { formatCoins, toHex } from "../../util/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { type DecCoins, decCoinsText, plus, readDecCoins, smaller, split } from "./deccoins.ts";
import { ACCOUNT, type DistributionKeeper, store } from "./keeper.ts";

export function distributionInvariants(keeper: DistributionKeeper): Readonly<Record<string, Invariant>> {
  return {
    account: (ctx) => accountHoldsAll(keeper, ctx),
    outstanding: (ctx) => outstandingCovers(keeper, ctx),
    references: (ctx) => referencesAreCounted(keeper, ctx),
  };
}

/** Every whole coin of the account is an owed reward or the community's. */
function accountHoldsAll(keeper: DistributionKeeper, ctx: Context): string | undefined {
  let owed: DecCoins = keeper.communityPool(ctx);
  for (const { rewards } of keeper.records.outstanding.values(store(ctx))) owed = plus(owed, readDecCoins(rewards));
  const { whole, rest } = split(owed);
  const [held, wanted] = [keeper.bank.moduleBalances(ctx, ACCOUNT), whole].map(
    (coins) => formatCoins(coins) || "nothing",
  );
  if (rest.length > 0) return `${decCoinsText(owed)} are owed, which are not whole coins`;
  return held === wanted ? undefined : `the account owes ${wanted} and holds ${held}`;
}

/** Commission and the rewards of the present period are part of the validator's outstanding rewards. */
function outstandingCovers(keeper: DistributionKeeper, ctx: Context): string | undefined {
  for (const [operator, { rewards }] of keeper.records.outstanding.iterate(store(ctx))) {
    const present = keeper.records.current.get(store(ctx), operator)?.rewards ?? [];
    const parts = plus(keeper.commission(ctx, operator), readDecCoins(present));
    if (decCoinsText(smaller(parts, readDecCoins(rewards))) !== decCoinsText(parts))
      return `${toHex(operator)} is owed less than its commission and present rewards`;
  }
  return undefined;
}

/** Each delegation, each slash and each present period counts from one period, and that period is there. */
export function referencesAreCounted(keeper: DistributionKeeper, ctx: Context): string | undefined {
  const wanted = references(keeper, ctx);
  for (const [[operator, period], { referenceCount }] of keeper.records.historical.iterate(store(ctx))) {
    const id = periodId(operator, period);
    const count = wanted.get(id)?.count ?? 0;
    wanted.delete(id);
    if (count !== referenceCount)
      return `${count} count from ${periodName(operator, period)}, which says ${referenceCount}`;
  }
  const [missing] = wanted.values();
  return missing && `${missing.count} count from ${periodName(missing.operator, missing.period)}, which does not exist`;
}

interface References {
  readonly operator: Uint8Array;
  readonly period: bigint;
  readonly count: number;
}

/** How many count from each period. */
function references(keeper: DistributionKeeper, ctx: Context): Map<string, References> {
  const { current, starts, slashes } = keeper.records;
  const counts = new Map<string, References>();
  const count = (operator: Uint8Array, period: bigint): void => {
    const id = periodId(operator, period);
    counts.set(id, { operator, period, count: (counts.get(id)?.count ?? 0) + 1 });
  };
  for (const [operator, { period }] of current.iterate(store(ctx))) count(operator, period - 1n);
  for (const [[operator], { previousPeriod }] of starts.iterate(store(ctx))) count(operator, previousPeriod);
  for (const [[operator], { validatorPeriod }] of slashes.iterate(store(ctx))) count(operator, validatorPeriod);
  return counts;
}

function periodId(operator: Uint8Array, period: bigint): string {
  return `${toHex(operator)}/${period}`;
}

function periodName(operator: Uint8Array, period: bigint): string {
  return `period ${period} of ${encodeAddress(operator, "valoper")}`;
}
