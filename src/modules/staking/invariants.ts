import type { Context, Invariant } from "../../runtime/index.ts";
import { toHex } from "../../util/index.ts";
import { timeOf } from "./entries.ts";
import { BONDED_POOL, NOT_BONDED_POOL, type StakingKeeper, store } from "./keeper.ts";
import { isBonded, operatorOf, sharesOf, tokensOf } from "./validator.ts";

export function stakingInvariants(keeper: StakingKeeper): Readonly<Record<string, Invariant>> {
  return {
    pools: (ctx) => poolsHoldTokens(keeper, ctx),
    shares: (ctx) => sharesAddUp(keeper, ctx),
    voters: (ctx) => votersAreBonded(keeper, ctx),
    queues: (ctx) => entriesAreQueued(keeper, ctx),
    indexes: (ctx) => {
      const { validators, delegations, unbondings, redelegations } = keeper.records;
      const all = [validators, delegations, unbondings, redelegations];
      return all.flatMap((each) => each.verifyIndexes(store(ctx)))[0];
    },
  };
}

/** Faults of the balances of the two pools. */
export function poolsHoldTokens(keeper: StakingKeeper, ctx: Context): string | undefined {
  let [bonded, free] = [0n, 0n];
  for (const validator of keeper.records.validators.values(store(ctx))) {
    if (tokensOf(validator) < 0n) return `${validator.operatorAddress} has ${validator.tokens} tokens`;
    if (isBonded(validator)) bonded += tokensOf(validator);
    else free += tokensOf(validator);
  }
  for (const { entries } of keeper.records.unbondings.values(store(ctx)))
    for (const { balance } of entries) free += BigInt(balance);
  const denom = keeper.bondDenom(ctx);
  const [inBonded, inFree] = [BONDED_POOL, NOT_BONDED_POOL].map((pool) => keeper.bank.moduleBalance(ctx, pool, denom));
  if (inBonded !== bonded) return `bonded validators have ${bonded}${denom}, their pool holds ${inBonded}`;
  return inFree === free ? undefined : `${free}${denom} are not bonded, their pool holds ${inFree}`;
}

function sharesAddUp(keeper: StakingKeeper, ctx: Context): string | undefined {
  const sums = new Map<string, bigint>();
  for (const [[, operator], shares] of keeper.records.delegations.iterate(store(ctx))) {
    const id = toHex(operator);
    if (shares <= 0n) return `a delegation to ${id} has ${shares} shares`;
    sums.set(id, (sums.get(id) ?? 0n) + shares);
  }
  for (const validator of keeper.records.validators.values(store(ctx))) {
    const id = toHex(operatorOf(validator));
    const sum = sums.get(id) ?? 0n;
    sums.delete(id);
    if (sum !== sharesOf(validator))
      return `${validator.operatorAddress} has ${sharesOf(validator)} shares, its delegations ${sum}`;
  }
  const [orphan] = sums.keys();
  return orphan === undefined ? undefined : `there are delegations to ${orphan}, which is not a validator`;
}

function votersAreBonded(keeper: StakingKeeper, ctx: Context): string | undefined {
  const voters = new Set([...keeper.records.lastPowers.keys(store(ctx))].map(toHex));
  for (const validator of keeper.records.validators.values(store(ctx)))
    if (voters.delete(toHex(operatorOf(validator))) !== isBonded(validator))
      return `${validator.operatorAddress} is ${isBonded(validator) ? "bonded without a vote" : "a voter that is not bonded"}`;
  return voters.size === 0 ? undefined : "there is a voter that is not a validator";
}

function entriesAreQueued(keeper: StakingKeeper, ctx: Context): string | undefined {
  const { unbondings, unbondingQueue, redelegations, redelegationQueue } = keeper.records;
  for (const [key, { entries }] of unbondings.iterate(store(ctx)))
    for (const entry of entries)
      if (!unbondingQueue.has(store(ctx), timeOf(entry.completionTime), key)) return "an unbonding is not in its queue";
  for (const [key, { entries }] of redelegations.iterate(store(ctx)))
    for (const entry of entries)
      if (!redelegationQueue.has(store(ctx), timeOf(entry.completionTime), key))
        return "a redelegation is not in its queue";
  return undefined;
}
