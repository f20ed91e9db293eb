import { create } from "@bufbuild/protobuf";
import {
  type Context,
  defineGenesis,
  durationProblems,
  entryProblems,
  type GenesisPart,
  type Restart,
  type RestartPart,
} from "../../runtime/index.ts";
import { DEC_ONE, isDenom, NATIVE_DENOM, toHex, toUtf8 } from "../../util/index.ts";
import {
  BondStatus,
  type Delegation,
  type GenesisState,
  GenesisStateSchema,
  type Params,
  ParamsSchema,
  type Validator,
} from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import {
  decodeAddress,
  encodeAddress,
  stakingErrors as errors,
  publicKeyFromAny,
  publicKeyToAny,
} from "../../wire/index.ts";
import { timeOf } from "./entries.ts";
import { poolsHoldTokens } from "./invariants.ts";
import { type StakingKeeper, store } from "./keeper.ts";
import { checkCommission } from "./operators.ts";
import { consensusAddressOf, operatorOf, sharesOf } from "./validator.ts";
import { updateVoters } from "./valset.ts";

/** Three weeks. */
const UNBONDING_SECONDS = 1_814_400n;
const MAX_VALIDATORS = 100;
const MAX_ENTRIES = 7;
const HISTORICAL_ENTRIES = 10_000;

/** Limits that keep one block, one message and the state of one block small enough. */
const MOST_VALIDATORS = 10_000;
const MOST_ENTRIES = 1_000;
const MOST_HISTORY = 1_000_000;

export function defaultParams(): Params {
  return create(ParamsSchema, {
    unbondingTime: { seconds: UNBONDING_SECONDS },
    maxValidators: MAX_VALIDATORS,
    maxEntries: MAX_ENTRIES,
    historicalEntries: HISTORICAL_ENTRIES,
    bondDenom: NATIVE_DENOM,
    minCommissionRate: "0",
  });
}

/** Faults of parameters, one sentence each. */
export function paramsProblems(params: Params): string[] {
  const { unbondingTime, maxValidators, maxEntries, historicalEntries, bondDenom, minCommissionRate } = params;
  const rate = BigInt(minCommissionRate);
  const found = durationProblems("unbonding_time", unbondingTime);
  if (maxValidators < 1 || maxValidators > MOST_VALIDATORS)
    found.push(`max_validators: must be 1 to ${MOST_VALIDATORS}`);
  if (maxEntries < 1 || maxEntries > MOST_ENTRIES) found.push(`max_entries: must be 1 to ${MOST_ENTRIES}`);
  if (historicalEntries > MOST_HISTORY) found.push(`historical_entries: must be at most ${MOST_HISTORY}`);
  if (!isDenom(bondDenom)) found.push(`bond_denom: ${JSON.stringify(bondDenom.slice(0, 80))} is not a denomination`);
  if (rate < 0n || rate > DEC_ONE) found.push("min_commission_rate: must be 0 to 1");
  return found.map((problem) => `params.${problem}`);
}

export function stakingGenesis(keeper: StakingKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams(), lastTotalPower: toUtf8("0") }),
    validate: problems,
    init: (ctx, state) => importState(keeper, ctx, state),
    export: (ctx) => exportState(keeper, ctx),
    restart: stakingRestart(keeper),
  });
}

function importState(keeper: StakingKeeper, ctx: Context, state: GenesisState): void {
  const { records } = keeper;
  records.params.set(store(ctx), state.params ?? defaultParams());
  for (const validator of state.validators) importValidator(keeper, ctx, validator, state.exported);
  for (const delegation of state.delegations) importDelegation(keeper, ctx, delegation, state.exported);
  importEntries(keeper, ctx, state);
  if (state.lastUnbondingId > 0n) records.unbondingIds.set(store(ctx), state.lastUnbondingId + 1n);
  const problem = poolsHoldTokens(keeper, ctx);
  if (problem !== undefined) throw errors.genesis(problem);
  if (!state.exported) {
    updateVoters(keeper, ctx);
    return;
  }
  for (const { address, power } of state.lastValidatorPowers)
    records.lastPowers.set(store(ctx), decodeAddress(address, "valoper"), power);
  if (state.lastTotalPower.length > 0 && state.lastValidatorPowers.length > 0)
    records.lastTotalPower.set(store(ctx), BigInt(Buffer.from(state.lastTotalPower).toString("latin1")));
}

function importValidator(keeper: StakingKeeper, ctx: Context, found: Validator, exported: boolean): void {
  const operator = operatorOf(found);
  const key = found.consensusPubkey;
  const validator = key === undefined ? found : { ...found, consensusPubkey: publicKeyToAny(publicKeyFromAny(key)) };
  keeper.setValidator(ctx, validator);
  if (!exported) keeper.hooks.afterValidatorCreated(ctx, operator);
  if (validator.status === BondStatus.UNBONDING)
    keeper.records.validatorQueue.push(store(ctx), timeOf(validator.unbondingTime), operator);
}

function importDelegation(keeper: StakingKeeper, ctx: Context, found: Delegation, exported: boolean): void {
  const delegator = decodeAddress(found.delegatorAddress);
  const operator = decodeAddress(found.validatorAddress, "valoper");
  if (!exported) keeper.hooks.beforeDelegationCreated(ctx, delegator, operator);
  keeper.records.delegations.set(store(ctx), [delegator, operator], BigInt(found.shares));
  keeper.hooks.afterSharesChanged(ctx, [delegator, operator], BigInt(found.shares));
  if (!exported) keeper.hooks.afterDelegationModified(ctx, delegator, operator);
}

function importEntries(keeper: StakingKeeper, ctx: Context, state: GenesisState): void {
  const { unbondings, unbondingQueue, redelegations, redelegationQueue } = keeper.records;
  for (const unbonding of state.unbondingDelegations) {
    const operator = decodeAddress(unbonding.validatorAddress, "valoper");
    const key = [decodeAddress(unbonding.delegatorAddress), operator] as const;
    unbondings.set(store(ctx), key, unbonding);
    for (const { completionTime } of unbonding.entries) unbondingQueue.push(store(ctx), timeOf(completionTime), key);
  }
  for (const each of state.redelegations) {
    const source = decodeAddress(each.validatorSrcAddress, "valoper");
    const destination = decodeAddress(each.validatorDstAddress, "valoper");
    const key = [decodeAddress(each.delegatorAddress), source, destination] as const;
    redelegations.set(store(ctx), key, each);
    for (const { completionTime } of each.entries) redelegationQueue.push(store(ctx), timeOf(completionTime), key);
  }
}

function exportState(keeper: StakingKeeper, ctx: Context): GenesisState {
  const { records } = keeper;
  const valoper = (operator: Uint8Array): string => encodeAddress(operator, "valoper");
  return create(GenesisStateSchema, {
    params: keeper.getParams(ctx),
    lastTotalPower: toUtf8(`${records.lastTotalPower.get(store(ctx)) ?? 0n}`),
    lastValidatorPowers: [...records.lastPowers.iterate(store(ctx))].map(([operator, power]) => ({
      address: valoper(operator),
      power,
    })),
    validators: [...records.validators.values(store(ctx))],
    delegations: [...records.delegations.iterate(store(ctx))].map(([[delegator, operator], shares]) => ({
      delegatorAddress: encodeAddress(delegator),
      validatorAddress: valoper(operator),
      shares: `${shares}`,
    })),
    unbondingDelegations: [...records.unbondings.values(store(ctx))],
    redelegations: [...records.redelegations.values(store(ctx))],
    exported: true,
    lastUnbondingId: records.unbondingIds.peek(store(ctx)) - 1n,
  });
}

function problems(state: GenesisState): string[] {
  const shares = new Map<string, bigint>();
  for (const { validatorAddress, shares: held } of state.delegations)
    shares.set(validatorAddress, (shares.get(validatorAddress) ?? 0n) + BigInt(held));
  const known = new Set(state.validators.map(({ operatorAddress }) => operatorAddress));
  const isKnown = (operator: string): string => {
    decodeAddress(operator, "valoper");
    if (!known.has(operator)) throw new Error(`there is no validator ${operator}`);
    return operator;
  };
  return [
    ...(state.params === undefined ? [] : paramsProblems(state.params)),
    ...entryProblems("validators", state.validators, (validator) => checkValidator(validator, shares)),
    ...entryProblems("validators", state.validators, (validator) => `the key ${toHex(consensusAddressOf(validator))}`),
    ...entryProblems("delegations", state.delegations, ({ delegatorAddress, validatorAddress, shares: held }) => {
      if (BigInt(held) <= 0n) throw new Error("shares must be positive");
      return `${toHex(decodeAddress(delegatorAddress))} ${isKnown(validatorAddress)}`;
    }),
    ...entryProblems("unbonding_delegations", state.unbondingDelegations, (each) => {
      checkEntries(each.entries);
      return `${toHex(decodeAddress(each.delegatorAddress))} ${toHex(decodeAddress(each.validatorAddress, "valoper"))}`;
    }),
    ...entryProblems("redelegations", state.redelegations, (each) => {
      checkEntries(each.entries);
      const pair = [each.validatorSrcAddress, each.validatorDstAddress].map((text) => decodeAddress(text, "valoper"));
      return [decodeAddress(each.delegatorAddress), ...pair].map(toHex).join(" ");
    }),
    ...entryProblems("last_validator_powers", state.lastValidatorPowers, ({ address, power }) => {
      if (power <= 0n) throw new Error("power must be positive");
      return isKnown(address);
    }),
    ...totalPowerProblems(state),
    ...unbondingIdProblems(state),
  ];
}

/** A state that was exported has voters; a new one chooses them when it begins. */
function totalPowerProblems({ exported, lastTotalPower, lastValidatorPowers }: GenesisState): string[] {
  if (!exported) return [];
  const total = lastValidatorPowers.reduce((sum, { power }) => sum + power, 0n);
  const told = Buffer.from(lastTotalPower).toString("latin1") || "0";
  return told === `${total}` ? [] : [`last_total_power: must be ${total}, the sum of last_validator_powers`];
}

function unbondingIdProblems({ lastUnbondingId, unbondingDelegations, redelegations }: GenesisState): string[] {
  const ids = [...unbondingDelegations, ...redelegations].flatMap(({ entries }) =>
    entries.map((each) => each.unbondingId),
  );
  const beyond = ids.find((id) => id > lastUnbondingId);
  return beyond === undefined ? [] : [`last_unbonding_id: must be at least ${beyond}, which an entry has`];
}

function checkValidator(validator: Validator, shares: ReadonlyMap<string, bigint>): string {
  const { operatorAddress, status, jailed, tokens, commission } = validator;
  operatorOf(validator);
  consensusAddressOf(validator);
  if (commission?.commissionRates !== undefined) checkCommission(commission.commissionRates);
  if (![BondStatus.UNBONDED, BondStatus.UNBONDING, BondStatus.BONDED].includes(status))
    throw new Error("the status is missing");
  if (jailed && status === BondStatus.BONDED) throw new Error("a jailed validator is not bonded");
  if (BigInt(tokens) < 0n) throw new Error("tokens must not be negative");
  if (!/^\d*$/.test(validator.minSelfDelegation)) throw new Error("min_self_delegation must be a whole number");
  if (status === BondStatus.UNBONDING && timeOf(validator.unbondingTime) < 0n)
    throw new Error("unbonding_time is missing");
  const held = shares.get(operatorAddress) ?? 0n;
  if (held !== sharesOf(validator)) throw new Error("delegator_shares is not the sum of the delegations");
  return operatorAddress;
}

interface Entry {
  readonly creationHeight: bigint;
  readonly completionTime?: unknown;
  readonly initialBalance: string;
  /** Remaining amount of an unbonding; a redelegation has none. */
  readonly balance?: string;
}

function checkEntries(entries: readonly Entry[]): void {
  if (entries.length === 0) throw new Error("entries are missing");
  for (const { creationHeight, completionTime, initialBalance, balance = "0" } of entries) {
    if (completionTime === undefined) throw new Error("completion_time is missing");
    if (creationHeight < 0n) throw new Error("creation_height must not be negative");
    if (BigInt(initialBalance) < 0n) throw new Error("initial_balance must not be negative");
    if (BigInt(balance) < 0n || BigInt(balance) > BigInt(initialBalance))
      throw new Error("balance must be 0 to initial_balance");
  }
}

/** Unbonding continues until its time; on the new chain, all of it began before the first block. */
function stakingRestart(keeper: StakingKeeper): RestartPart<GenesisState> {
  return { prepare: (ctx, restart) => jailOthers(keeper, ctx, restart), move: moved };
}

/** Jails the validators that may not continue, and removes them from the voters. */
function jailOthers(keeper: StakingKeeper, ctx: Context, { unjailed }: Restart): void {
  if (unjailed === undefined) return;
  const stay = new Set(unjailed.map(toHex));
  for (const [operator, validator] of [...keeper.records.validators.iterate(store(ctx))])
    if (!stay.has(toHex(operator)) && !validator.jailed) keeper.jail(ctx, validator);
  updateVoters(keeper, ctx);
}

function moved(state: GenesisState): GenesisState {
  const begun = <T>(entries: readonly T[]) => entries.map((entry) => ({ ...entry, creationHeight: 0n }));
  return create(GenesisStateSchema, {
    ...state,
    validators: state.validators.map((validator) => ({ ...validator, unbondingHeight: 0n })),
    unbondingDelegations: state.unbondingDelegations.map((each) => ({ ...each, entries: begun(each.entries) })),
    redelegations: state.redelegations.map((each) => ({ ...each, entries: begun(each.entries) })),
  });
}
