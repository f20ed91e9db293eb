import type { Context, Invariant } from "../../runtime/index.ts";
import { formatCoins, toHex } from "../../util/index.ts";
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
  const held = formatCoins(keeper.bank.moduleBalances(ctx, ACCOUNT));
  if (rest.length > 0) return `${decCoinsText(owed)} are owed, which are not whole coins`;
  return held === formatCoins(whole) ? undefined : `${formatCoins(whole)} are owed, the account holds ${held}`;
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

/** Each delegation, each slash and each present period counts from one period. */
function referencesAreCounted(keeper: DistributionKeeper, ctx: Context): string | undefined {
  const { current, starts, slashes, historical } = keeper.records;
  const wanted = current.count(store(ctx)) + starts.count(store(ctx)) + slashes.count(store(ctx));
  let counted = 0;
  for (const { referenceCount } of historical.values(store(ctx))) counted += referenceCount;
  return counted === wanted ? undefined : `${wanted} count from periods, the periods know of ${counted}`;
}
