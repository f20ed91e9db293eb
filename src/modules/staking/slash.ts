import type { Context } from "../../runtime/index.ts";
import { DEC_ONE, type Dec, decFromInt, decMul, decQuoRoundUp, decTruncate } from "../../util/index.ts";
import {
  BondStatus,
  type RedelegationEntry,
  type UnbondingDelegationEntry,
} from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { setUnbonding, timeOf } from "./entries.ts";
import { type StakingKeeper, store } from "./keeper.ts";
import type { DelegationKey, RedelegationKey } from "./records.ts";
import { isBonded, operatorOf, POWER_REDUCTION, tokensOf } from "./validator.ts";

/** A proven misdeed of a validator. */
export interface Infraction {
  /** 20 bytes. */
  readonly consensus: Uint8Array;
  readonly height: bigint;
  /** Its voting power then. */
  readonly power: bigint;
  /** The part of its stake of then that is burnt, as a decimal. */
  readonly fraction: Dec;
}

/**
 * Burns part of the tokens bonded to a validator at the time of its infraction. Tokens that left since, by unbonding or
 * redelegation, are burned for their part, and the rest comes from the validator's own tokens. Returns the burned
 * amount of the validator's own tokens. A missing or unbonded validator has nothing left to burn.
 */
export function slash(keeper: StakingKeeper, ctx: Context, infraction: Infraction): bigint {
  const { consensus, power, fraction } = infraction;
  const validator = keeper.findByConsensus(ctx, consensus);
  if (validator === undefined || validator.status === BondStatus.UNBONDED) return 0n;
  const operator = operatorOf(validator);
  const due = decTruncate(decMul(decFromInt(power * POWER_REDUCTION), fraction));
  const fromLeavers = infraction.height < ctx.height ? slashLeavers(keeper, ctx, operator, infraction) : 0n;
  const held = tokensOf(validator);
  const burnt = clamp(due - fromLeavers, held);
  if (burnt === 0n) return 0n;
  const effective = decQuoRoundUp(decFromInt(burnt), decFromInt(held));
  keeper.hooks.beforeValidatorSlashed(ctx, operator, effective > DEC_ONE ? DEC_ONE : effective);
  // Slashing what left the validator may have changed its record.
  const now = keeper.validator(ctx, operator);
  keeper.setValidator(ctx, { ...now, tokens: `${tokensOf(now) - burnt}` });
  keeper.burn(ctx, isBonded(now) ? "bonded" : "not bonded", burnt);
  return burnt;
}

function slashLeavers(keeper: StakingKeeper, ctx: Context, operator: Uint8Array, infraction: Infraction): bigint {
  let total = 0n;
  const { validator } = keeper.records.unbondings.by;
  for (const key of [...validator.keys(store(ctx), { prefix: [operator] })])
    total += slashUnbonding(keeper, ctx, key, infraction);
  for (const key of keeper.redelegationsFrom(ctx, operator)) total += slashRedelegation(keeper, ctx, key, infraction);
  return total;
}

/** Returns the amount that the entries are liable for, which exceeds the burned amount if they were slashed before. */
function slashUnbonding(keeper: StakingKeeper, ctx: Context, key: DelegationKey, infraction: Infraction): bigint {
  const found = keeper.records.unbondings.require(store(ctx), key);
  let total = 0n;
  let burnt = 0n;
  const entries = found.entries.map((entry) => {
    if (!answersFor(ctx, entry, infraction.height)) return entry;
    const share = shareOf(entry.initialBalance, infraction.fraction);
    total += share;
    const taken = clamp(share, BigInt(entry.balance));
    burnt += taken;
    return { ...entry, balance: `${BigInt(entry.balance) - taken}` };
  });
  if (burnt > 0n) setUnbonding(keeper, ctx, key, { ...found, entries });
  keeper.burn(ctx, "not bonded", burnt);
  return total;
}

/** Burns tokens unbonding from the new validator first, then tokens delegated to it. */
function slashRedelegation(keeper: StakingKeeper, ctx: Context, key: RedelegationKey, infraction: Infraction): bigint {
  const { entries } = keeper.records.redelegations.require(store(ctx), key);
  const burnt = { bonded: 0n, "not bonded": 0n };
  let total = 0n;
  for (const entry of entries) {
    if (!answersFor(ctx, entry, infraction.height)) continue;
    const share = shareOf(entry.initialBalance, infraction.fraction);
    total += share;
    const taken = takeFromUnbonding(keeper, ctx, key, { share, height: infraction.height });
    burnt["not bonded"] += taken;
    const { pool, tokens } = takeFromDelegation(keeper, ctx, key, { entry, infraction, isDue: share > taken });
    burnt[pool] += tokens;
  }
  keeper.burn(ctx, "bonded", burnt.bonded);
  keeper.burn(ctx, "not bonded", burnt["not bonded"]);
  return total;
}

function takeFromUnbonding(
  keeper: StakingKeeper,
  ctx: Context,
  [delegator, , destination]: RedelegationKey,
  { share, height }: { readonly share: bigint; readonly height: bigint },
): bigint {
  const key: DelegationKey = [delegator, destination];
  const found = keeper.records.unbondings.get(store(ctx), key);
  if (found === undefined) return 0n;
  let left = share;
  const entries = found.entries.map((entry) => {
    const taken = clamp(left, BigInt(entry.balance));
    if (taken === 0n || !answersFor(ctx, entry, height)) return entry;
    left -= taken;
    return { ...entry, balance: `${BigInt(entry.balance) - taken}` };
  });
  if (left < share) setUnbonding(keeper, ctx, key, { ...found, entries });
  return share - left;
}

/** Takes a part of the delegation's shares; a deleted delegation has nothing left. */
function takeFromDelegation(
  keeper: StakingKeeper,
  ctx: Context,
  [delegator, , destination]: RedelegationKey,
  due: { readonly entry: RedelegationEntry; readonly infraction: Infraction; readonly isDue: boolean },
): { readonly pool: "bonded" | "not bonded"; readonly tokens: bigint } {
  const wanted = decMul(due.infraction.fraction, BigInt(due.entry.sharesDst));
  const held = keeper.shares(ctx, delegator, destination);
  if (wanted === 0n || !due.isDue || held === undefined) return { pool: "bonded", tokens: 0n };
  const wasBonded = isBonded(keeper.validator(ctx, destination));
  const tokens = keeper.unbond(ctx, delegator, destination, wanted > held ? held : wanted);
  return { pool: wasBonded ? "bonded" : "not bonded", tokens };
}

/** Only what left after the deed, and is not free yet, answers for it. */
function answersFor(
  ctx: Context,
  entry: Pick<UnbondingDelegationEntry, "completionTime" | "creationHeight">,
  height: bigint,
): boolean {
  return entry.creationHeight >= height && timeOf(entry.completionTime) > ctx.block.time;
}

function shareOf(initialBalance: string, fraction: Dec): bigint {
  return decTruncate(fraction * BigInt(initialBalance));
}

/** At least zero, at most all. */
function clamp(amount: bigint, most: bigint): bigint {
  if (amount < 0n) return 0n;
  return amount < most ? amount : most;
}
