import type { Context } from "../../runtime/index.ts";
import { toHex } from "../../util/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { decCoinsText, readDecCoins, smaller } from "./deccoins.ts";
import { referencesAreCounted } from "./invariants.ts";
import { type DistributionKeeper, type RewardOf, store } from "./keeper.ts";
import { stakeIsTooLarge } from "./rewards.ts";

/**
 * Faults of rewards that would fail on the new chain later: a validator or delegation without its records, records
 * without their owner, inconsistent periods.
 */
export function genesisProblem(keeper: DistributionKeeper, ctx: Context): string | undefined {
  return (
    validatorsProblem(keeper, ctx) ??
    delegationsProblem(keeper, ctx) ??
    referencesAreCounted(keeper, ctx) ??
    ratiosProblem(keeper, ctx) ??
    startsProblem(keeper, ctx)
  );
}

/** Each validator has one entry in each of three lists, and there are no other entries. */
function validatorsProblem({ records, stake }: DistributionKeeper, ctx: Context): string | undefined {
  const validators = new Map([...stake.validators(ctx)].map((each) => [each.operatorAddress, each]));
  const lists = {
    outstanding_rewards: records.outstanding,
    validator_accumulated_commissions: records.commissions,
    validator_current_rewards: records.current,
  };
  for (const [field, list] of Object.entries(lists)) {
    const found = new Set([...list.keys(store(ctx))].map((operator) => encodeAddress(operator, "valoper")));
    for (const name of validators.keys()) if (!found.has(name)) return `${field}: the validator ${name} is missing`;
    for (const name of found) if (!validators.has(name)) return `${field}: ${name} is not a validator`;
  }
  for (const [operator, { period }] of records.current.iterate(store(ctx)))
    if (period < 1n)
      return `validator_current_rewards: the period of ${encodeAddress(operator, "valoper")} must be positive`;
  return undefined;
}

/** Each delegation has a starting info, and there are no others. */
function delegationsProblem({ records, stake }: DistributionKeeper, ctx: Context): string | undefined {
  const starts = new Map(
    [...records.starts.keys(store(ctx))].map(([operator, delegator]) => {
      return [pairId(delegator, operator), { operator, delegator }] as const;
    }),
  );
  for (const [delegator, operator] of stake.allDelegations(ctx))
    if (!starts.delete(pairId(delegator, operator)))
      return `delegator_starting_infos: ${pairText({ delegator, operator })} is missing`;
  const [foreign] = starts.values();
  return foreign && `delegator_starting_infos: there is no delegation of ${pairText(foreign)}`;
}

/** Earnings of a token since the beginning never decrease. */
function ratiosProblem({ records }: DistributionKeeper, ctx: Context): string | undefined {
  let before = { id: "", ratio: readDecCoins([]) };
  for (const [[operator, period], { cumulativeRewardRatio }] of records.historical.iterate(store(ctx))) {
    const [id, ratio] = [toHex(operator), readDecCoins(cumulativeRewardRatio)];
    if (id === before.id && decCoinsText(smaller(before.ratio, ratio)) !== decCoinsText(before.ratio))
      return `validator_historical_rewards: period ${period} of ${encodeAddress(operator, "valoper")} has a smaller ratio than the one before it`;
    before = { id, ratio };
  }
  return undefined;
}

/** A delegation begins in the past, with a stake that it has. */
function startsProblem(keeper: DistributionKeeper, ctx: Context): string | undefined {
  for (const [[operator, delegator], start] of keeper.records.starts.iterate(store(ctx))) {
    const reward = { operator, delegator };
    const name = `delegator_starting_infos: ${pairText(reward)}`;
    const period = keeper.records.current.require(store(ctx), operator).period;
    if (start.height > ctx.height) return `${name}: height ${start.height} is in the future`;
    if (start.previousPeriod >= period) return `${name}: previous_period ${start.previousPeriod} is in the future`;
    if (BigInt(start.stake) < 0n) return `${name}: stake must not be negative`;
    if (stakeIsTooLarge(keeper, ctx, reward))
      return `${name}: stake is more than the shares of the delegation are worth`;
  }
  for (const [operator, height] of keeper.records.slashes.keys(store(ctx)))
    if (height > ctx.height)
      return `validator_slash_events: height ${height} of ${encodeAddress(operator, "valoper")} is in the future`;
  return undefined;
}

function pairId(delegator: Uint8Array, operator: Uint8Array): string {
  return `${toHex(delegator)} ${toHex(operator)}`;
}

function pairText({ delegator, operator }: RewardOf): string {
  return `${encodeAddress(delegator)} to ${encodeAddress(operator, "valoper")}`;
}
