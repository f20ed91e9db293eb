import { create } from "@bufbuild/protobuf";
import type { Context } from "../../runtime/index.ts";
import { assert, DEC_ONE, type Dec, decFromInt, decMulTruncate, formatCoins, type IntCoin } from "../../util/index.ts";
import {
  DelegatorStartingInfoSchema,
  ValidatorCurrentRewardsSchema,
  type ValidatorHistoricalRewards,
  ValidatorHistoricalRewardsSchema,
  type ValidatorSlashEvent,
  ValidatorSlashEventSchema,
} from "../../wire/gen/sdk/distribution/v1beta1/distribution_pb.js";
import type { Validator } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress, distributionErrors as errors } from "../../wire/index.ts";
import { type StakingHooks, tokensForShares, tokensForSharesTruncated } from "../staking/index.ts";
import {
  type DecCoins,
  decCoinMessages,
  dividedTruncated,
  minus,
  plus,
  readDecCoins,
  smaller,
  split,
  timesTruncated,
} from "./deccoins.ts";
import { type DistributionKeeper, type RewardOf, store } from "./keeper.ts";

/**
 * Rewards without a loop over delegators: a validator's history is cut into periods of constant stake, and each period
 * stores the earnings of one token since the beginning. A delegation's reward is the difference of two periods times
 * its stake, with a cut at each slash between.
 */

/** Because of rounding, a stake may look this much larger than it is. */
const MARGIN: Dec = 3n;
/** A delegation and a slash, or a delegation and the present period, count from one period; never more. */
const MAX_REFERENCES = 2;

/** The events of staking that the module listens to. */
export function rewardHooks(keeper: DistributionKeeper): Partial<StakingHooks> {
  return {
    afterValidatorCreated: (ctx, operator) => beginValidator(keeper, ctx, operator),
    afterValidatorRemoved: (ctx, operator) => endValidator(keeper, ctx, operator),
    beforeDelegationCreated: (ctx, _, operator) => {
      endPeriod(keeper, ctx, operator);
    },
    beforeSharesModified: (ctx, delegator, operator) => {
      withdraw(keeper, ctx, { delegator, operator });
    },
    afterDelegationModified: (ctx, delegator, operator) => beginDelegation(keeper, ctx, { delegator, operator }),
    beforeValidatorSlashed: (ctx, operator, fraction) => recordSlash(keeper, ctx, operator, fraction),
  };
}

/** Pays what a delegation has earned and restarts it. */
export function withdrawRewards(keeper: DistributionKeeper, ctx: Context, reward: RewardOf): readonly IntCoin[] {
  keeper.validator(ctx, reward.operator);
  const paid = withdraw(keeper, ctx, reward);
  beginDelegation(keeper, ctx, reward);
  return paid;
}

/** Current earnings of a delegation, as decimals; read-only. */
export function pendingRewards(keeper: DistributionKeeper, ctx: Context, reward: RewardOf): DecCoins {
  const validator = keeper.validator(ctx, reward.operator);
  const { rewards, period } = current(keeper, ctx, reward.operator);
  const before = ratioAt(keeper, ctx, reward.operator, period - 1n);
  return earned(keeper, ctx, { ...reward, ending: plus(before, perToken(validator, rewards)), endingPeriod: period });
}

function withdraw(keeper: DistributionKeeper, ctx: Context, { delegator, operator }: RewardOf): readonly IntCoin[] {
  const { starts } = keeper.records;
  const start = starts.get(store(ctx), [operator, delegator]);
  if (start === undefined) throw errors.noDelegation();
  const endingPeriod = endPeriod(keeper, ctx, operator);
  const ending = ratioAt(keeper, ctx, operator, endingPeriod);
  const outstanding = keeper.outstanding(ctx, operator);
  // Rounding must not pay more than is owed.
  const rewards = smaller(earned(keeper, ctx, { delegator, operator, ending, endingPeriod }), outstanding);
  const { whole, rest } = split(rewards);
  keeper.pay(ctx, delegator, whole);
  keeper.setOutstanding(ctx, operator, minus(outstanding, rewards));
  keeper.addToPool(ctx, rest);
  release(keeper, ctx, operator, start.previousPeriod);
  starts.delete(store(ctx), [operator, delegator]);
  const told = whole.length > 0 ? whole : [{ denom: keeper.stake.bondDenom(ctx), amount: 0n }];
  ctx.events.emit("withdraw_rewards", {
    amount: formatCoins(told),
    validator: encodeAddress(operator, "valoper"),
    delegator: encodeAddress(delegator),
  });
  return told;
}

/** Earnings of a delegation from its start to the end of a period, with the slashes between. */
function earned(
  keeper: DistributionKeeper,
  ctx: Context,
  {
    delegator,
    operator,
    ending,
    endingPeriod,
  }: RewardOf & { readonly ending: DecCoins; readonly endingPeriod: bigint },
): DecCoins {
  const start = keeper.records.starts.require(store(ctx), [operator, delegator]);
  if (start.height === ctx.height) return [];
  const reward = { delegator, operator };
  let [period, stake] = [start.previousPeriod, BigInt(start.stake)];
  let total: DecCoins = [];
  for (const slash of slashesSince(keeper, ctx, reward)) {
    const ratio = ratioAt(keeper, ctx, operator, slash.validatorPeriod);
    total = plus(total, timesTruncated(minus(ratio, ratioAt(keeper, ctx, operator, period)), stake));
    stake = decMulTruncate(stake, DEC_ONE - BigInt(slash.fraction));
    period = slash.validatorPeriod;
  }
  assert(period <= endingPeriod, "a delegation begins before its rewards end");
  const held = tokensHeld(keeper, ctx, reward);
  assert(stake <= held + MARGIN, "the stake of a delegation is what slashes left of it");
  const counted = stake > held ? held : stake;
  return plus(total, timesTruncated(minus(ending, ratioAt(keeper, ctx, operator, period)), counted));
}

/** Whether a delegation claims to have begun with more than slashes can have taken from it. */
export function stakeIsTooLarge(keeper: DistributionKeeper, ctx: Context, reward: RewardOf): boolean {
  const { stake } = keeper.records.starts.require(store(ctx), [reward.operator, reward.delegator]);
  let left = BigInt(stake);
  for (const { fraction } of slashesSince(keeper, ctx, reward)) left = decMulTruncate(left, DEC_ONE - BigInt(fraction));
  return left > tokensHeld(keeper, ctx, reward) + MARGIN;
}

/** The slashes that a delegation has felt, in their order. */
function slashesSince(
  keeper: DistributionKeeper,
  ctx: Context,
  { delegator, operator }: RewardOf,
): ValidatorSlashEvent[] {
  const { height, previousPeriod } = keeper.records.starts.require(store(ctx), [operator, delegator]);
  const range = { prefix: [operator], start: [operator, height, 0n], end: [operator, ctx.height + 1n, 0n] } as const;
  const found: ValidatorSlashEvent[] = [];
  let period = previousPeriod;
  for (const slash of keeper.records.slashes.values(store(ctx), range)) {
    if (slash.validatorPeriod <= period) continue;
    found.push(slash);
    period = slash.validatorPeriod;
  }
  return found;
}

function tokensHeld(keeper: DistributionKeeper, ctx: Context, { delegator, operator }: RewardOf): Dec {
  return tokensForShares(keeper.validator(ctx, operator), keeper.stake.shares(ctx, delegator, operator) ?? 0n);
}

function beginValidator(keeper: DistributionKeeper, ctx: Context, operator: Uint8Array): void {
  setHistorical(keeper, ctx, [operator, 0n], create(ValidatorHistoricalRewardsSchema, { referenceCount: 1 }));
  setCurrent(keeper, ctx, operator, { rewards: [], period: 1n });
  keeper.setCommission(ctx, operator, []);
  keeper.setOutstanding(ctx, operator, []);
}

/** Whole coins of the commission go to the operator, everything else to the community. */
function endValidator(keeper: DistributionKeeper, ctx: Context, operator: Uint8Array): void {
  const { records } = keeper;
  const commission = keeper.commission(ctx, operator);
  const { whole, rest } = split(commission);
  keeper.addToPool(ctx, rest);
  keeper.pay(ctx, operator, whole);
  keeper.addToPool(ctx, minus(keeper.outstanding(ctx, operator), commission));
  records.outstanding.delete(store(ctx), operator);
  records.commissions.delete(store(ctx), operator);
  records.current.delete(store(ctx), operator);
  for (const key of [...records.slashes.keys(store(ctx), { prefix: [operator] })])
    records.slashes.delete(store(ctx), key);
  for (const key of [...records.historical.keys(store(ctx), { prefix: [operator] })])
    records.historical.delete(store(ctx), key);
}

/** Forgets all periods of a validator whose rewards are paid; fractions of coins go to the community. */
export function beginAgain(keeper: DistributionKeeper, ctx: Context, operator: Uint8Array): void {
  const { starts, slashes, historical } = keeper.records;
  const range = { prefix: [operator] } as const;
  keeper.addToPool(ctx, keeper.outstanding(ctx, operator));
  for (const key of [...slashes.keys(store(ctx), range)]) slashes.delete(store(ctx), key);
  for (const key of [...historical.keys(store(ctx), range)]) historical.delete(store(ctx), key);
  const delegators = [...starts.keys(store(ctx), range)].map(([, delegator]) => delegator);
  beginValidator(keeper, ctx, operator);
  for (const delegator of delegators) {
    endPeriod(keeper, ctx, operator);
    beginDelegation(keeper, ctx, { delegator, operator });
  }
}

function beginDelegation(keeper: DistributionKeeper, ctx: Context, { delegator, operator }: RewardOf): void {
  const previousPeriod = current(keeper, ctx, operator).period - 1n;
  hold(keeper, ctx, operator, previousPeriod);
  const validator = keeper.validator(ctx, operator);
  const stake = tokensForSharesTruncated(validator, keeper.stake.shares(ctx, delegator, operator) ?? 0n);
  const start = create(DelegatorStartingInfoSchema, { previousPeriod, stake: `${stake}`, height: ctx.height });
  keeper.records.starts.set(store(ctx), [operator, delegator], start);
}

/** Ends the present period of a validator and begins the next one. Returns the number of the one that ended. */
function endPeriod(keeper: DistributionKeeper, ctx: Context, operator: Uint8Array): bigint {
  const validator = keeper.validator(ctx, operator);
  const { rewards, period } = current(keeper, ctx, operator);
  if (BigInt(validator.tokens) === 0n) {
    // No stake can earn it.
    keeper.addToPool(ctx, rewards);
    keeper.setOutstanding(ctx, operator, minus(keeper.outstanding(ctx, operator), rewards));
  }
  const ratio = plus(ratioAt(keeper, ctx, operator, period - 1n), perToken(validator, rewards));
  release(keeper, ctx, operator, period - 1n);
  const ended = { cumulativeRewardRatio: decCoinMessages(ratio), referenceCount: 1 };
  setHistorical(keeper, ctx, [operator, period], create(ValidatorHistoricalRewardsSchema, ended));
  setCurrent(keeper, ctx, operator, { rewards: [], period: period + 1n });
  return period;
}

function recordSlash(keeper: DistributionKeeper, ctx: Context, operator: Uint8Array, fraction: Dec): void {
  const validatorPeriod = endPeriod(keeper, ctx, operator);
  hold(keeper, ctx, operator, validatorPeriod);
  const slash = create(ValidatorSlashEventSchema, { validatorPeriod, fraction: `${fraction}` });
  keeper.records.slashes.set(store(ctx), [operator, ctx.height, validatorPeriod], slash);
}

/** Rewards of the present period for one token. */
function perToken(validator: Validator, rewards: DecCoins): DecCoins {
  const tokens = BigInt(validator.tokens);
  return tokens === 0n ? [] : dividedTruncated(rewards, decFromInt(tokens));
}

export function current(
  keeper: DistributionKeeper,
  ctx: Context,
  operator: Uint8Array,
): { readonly rewards: DecCoins; readonly period: bigint } {
  const { rewards, period } = keeper.records.current.require(store(ctx), operator);
  return { rewards: readDecCoins(rewards), period };
}

export function setCurrent(
  keeper: DistributionKeeper,
  ctx: Context,
  operator: Uint8Array,
  { rewards, period }: { readonly rewards: DecCoins; readonly period: bigint },
): void {
  const value = create(ValidatorCurrentRewardsSchema, { rewards: decCoinMessages(rewards), period });
  keeper.records.current.set(store(ctx), operator, value);
}

function ratioAt(keeper: DistributionKeeper, ctx: Context, operator: Uint8Array, period: bigint): DecCoins {
  return readDecCoins(keeper.records.historical.require(store(ctx), [operator, period]).cumulativeRewardRatio);
}

function setHistorical(
  keeper: DistributionKeeper,
  ctx: Context,
  key: readonly [Uint8Array, bigint],
  value: ValidatorHistoricalRewards,
): void {
  keeper.records.historical.set(store(ctx), key, value);
}

function hold(keeper: DistributionKeeper, ctx: Context, operator: Uint8Array, period: bigint): void {
  const found = keeper.records.historical.require(store(ctx), [operator, period]);
  assert(found.referenceCount < MAX_REFERENCES, "a period is counted from at most twice");
  setHistorical(keeper, ctx, [operator, period], { ...found, referenceCount: found.referenceCount + 1 });
}

/** A period that nothing refers to any more is forgotten. */
function release(keeper: DistributionKeeper, ctx: Context, operator: Uint8Array, period: bigint): void {
  const found = keeper.records.historical.require(store(ctx), [operator, period]);
  assert(found.referenceCount > 0, "a period that is released was held");
  if (found.referenceCount === 1) keeper.records.historical.delete(store(ctx), [operator, period]);
  else setHistorical(keeper, ctx, [operator, period], { ...found, referenceCount: found.referenceCount - 1 });
}
