import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { Context } from "../../runtime/index.ts";
import { type Dec, equalBytes, sdkErrors } from "../../util/index.ts";
import {
  BondStatus,
  RedelegationEntrySchema,
  RedelegationSchema,
  type UnbondingDelegation,
  UnbondingDelegationEntrySchema,
  UnbondingDelegationSchema,
  type Validator,
} from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress, stakingErrors as errors, fromNanos, toNanos } from "../../wire/index.ts";
import { pairText, type StakingKeeper, store } from "./keeper.ts";
import type { DelegationKey, RedelegationKey } from "./records.ts";
import { hasNoRate, isBonded } from "./validator.ts";

/** Money on its way out of a validator: entries that each have a time at which they are complete. */

export interface Unbonded {
  /** Nanoseconds since 1970. */
  readonly completion: bigint;
  readonly amount: bigint;
}

/** Called where part of an unbonding returns to the delegation that it came from. */
export interface CancelledUnbonding {
  readonly key: DelegationKey;
  readonly amount: bigint;
  /** The height at which the unbonding began. */
  readonly height: bigint;
}

/** The time that says "no time" on chains of the ecosystem: 0001-01-01. */
export const NO_TIME = -62_135_596_800_000_000_000n;

export function timeMessage(nanos: bigint): Timestamp {
  return create(TimestampSchema, fromNanos(nanos));
}

export function timeOf(time: Timestamp | undefined): bigint {
  return time === undefined ? NO_TIME : toNanos(time);
}

/** Begins to unbond shares of a delegation. Throws `staking/34` if too many entries wait already. */
export function undelegate(keeper: StakingKeeper, ctx: Context, key: DelegationKey, shares: Dec): Unbonded {
  const [delegator, operator] = key;
  const { unbondings, unbondingQueue } = keeper.records;
  const validator = keeper.validator(ctx, operator);
  const { maxEntries } = keeper.getParams(ctx);
  if ((unbondings.get(store(ctx), key)?.entries.length ?? 0) >= maxEntries) throw errors.tooManyUnbondings();
  const amount = keeper.unbond(ctx, delegator, operator, shares);
  if (isBonded(validator)) keeper.movePools(ctx, "not bonded", amount);
  const completion = ctx.block.time + keeper.unbondingTime(ctx);
  addUnbonding(keeper, ctx, key, { completion, amount });
  unbondingQueue.push(store(ctx), completion, key);
  return { completion, amount };
}

/** Two that begin in one block and end at one time are one entry. */
function addUnbonding(keeper: StakingKeeper, ctx: Context, key: DelegationKey, { completion, amount }: Unbonded): void {
  const { unbondings, unbondingIds } = keeper.records;
  const unbondingId = unbondingIds.next(store(ctx));
  const { delegator, validator } = pairText(...key);
  const found =
    unbondings.get(store(ctx), key) ??
    create(UnbondingDelegationSchema, { delegatorAddress: delegator, validatorAddress: validator });
  const same = found.entries.find(
    (entry) => entry.creationHeight === ctx.height && timeOf(entry.completionTime) === completion,
  );
  if (same === undefined) {
    const entry = { creationHeight: ctx.height, initialBalance: `${amount}`, balance: `${amount}`, unbondingId };
    found.entries.push(create(UnbondingDelegationEntrySchema, { ...entry, completionTime: timeMessage(completion) }));
  } else {
    same.balance = `${BigInt(same.balance) + amount}`;
    same.initialBalance = `${BigInt(same.initialBalance) + amount}`;
  }
  unbondings.set(store(ctx), key, found);
}

/** Pays out the due entries of an unbonding. Returns the amount. */
export function completeUnbonding(keeper: StakingKeeper, ctx: Context, key: DelegationKey): bigint | undefined {
  const { unbondings } = keeper.records;
  const found = unbondings.get(store(ctx), key);
  if (found === undefined) return undefined;
  const ripe = found.entries.filter((entry) => timeOf(entry.completionTime) <= ctx.block.time);
  setUnbonding(keeper, ctx, key, { ...found, entries: found.entries.filter((entry) => !ripe.includes(entry)) });
  const amounts = ripe.map(({ balance }) => BigInt(balance)).filter((amount) => amount > 0n);
  for (const amount of amounts)
    keeper.bank.undelegate(ctx, "not_bonded_tokens_pool", key[0], [{ denom: keeper.bondDenom(ctx), amount }]);
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

/** Delegates tokens of an unfinished unbonding again. */
export function cancelUnbonding(keeper: StakingKeeper, ctx: Context, cancelled: CancelledUnbonding): void {
  const { key, amount, height } = cancelled;
  const validator = keeper.validator(ctx, key[1]);
  if (hasNoRate(validator)) throw errors.exchangeRate();
  if (validator.jailed) throw errors.jailed();
  const found = keeper.records.unbondings.require(store(ctx), key);
  const entry = found.entries.find(({ creationHeight }) => creationHeight === height);
  if (entry === undefined)
    throw sdkErrors.notFound(`unbonding delegation entry is not found at block height ${height}`);
  if (BigInt(entry.balance) < amount)
    throw sdkErrors.invalidRequest("amount is greater than the unbonding delegation entry balance");
  if (timeOf(entry.completionTime) < ctx.block.time)
    throw sdkErrors.invalidRequest("unbonding delegation is already processed");
  keeper.delegate(ctx, { delegator: key[0], validator, amount, from: BondStatus.UNBONDING });
  const left = BigInt(entry.balance) - amount;
  const less = { ...entry, balance: `${left}`, initialBalance: `${BigInt(entry.initialBalance) - amount}` };
  const entries = found.entries.flatMap((each) => (each !== entry ? [each] : left === 0n ? [] : [less]));
  setUnbonding(keeper, ctx, key, { ...found, entries });
}

/** Stores an unbonding; one without entries is removed. */
export function setUnbonding(
  keeper: StakingKeeper,
  ctx: Context,
  key: DelegationKey,
  value: UnbondingDelegation,
): void {
  if (value.entries.length === 0) keeper.records.unbondings.delete(store(ctx), key);
  else keeper.records.unbondings.set(store(ctx), key, value);
}

/**
 * Moves shares of a delegation to another validator. Returns the time at which the first validator has no more claim on
 * the money.
 */
export function redelegate(keeper: StakingKeeper, ctx: Context, key: RedelegationKey, shares: Dec): bigint {
  const [delegator, from, to] = key;
  const destination = keeper.findValidator(ctx, to);
  if (equalBytes(from, to)) throw errors.selfRedelegation();
  if (destination === undefined) throw errors.badDestination();
  const source = keeper.findValidator(ctx, from);
  if (source === undefined) throw errors.badSource();
  if (keeper.isReceiving(ctx, delegator, from)) throw errors.transitive();
  const waiting = keeper.records.redelegations.get(store(ctx), key);
  if ((waiting?.entries.length ?? 0) >= keeper.getParams(ctx).maxEntries) throw errors.tooManyRedelegations();
  const amount = keeper.unbond(ctx, delegator, from, shares);
  if (amount === 0n) throw errors.tinyRedelegation();
  const issued = keeper.delegate(ctx, { delegator, validator: destination, amount, from: source.status });
  const begun = beginInfo(keeper, ctx, from);
  if (begun === undefined) return NO_TIME;
  addRedelegation(keeper, ctx, key, { ...begun, amount, issued });
  return begun.completion;
}

/** From when until when moved money answers for its old validator; undefined for one that is not bonded. */
function beginInfo(
  keeper: StakingKeeper,
  ctx: Context,
  operator: Uint8Array,
): { readonly height: bigint; readonly completion: bigint } | undefined {
  const validator: Validator | undefined = keeper.findValidator(ctx, operator);
  if (validator === undefined || isBonded(validator))
    return { height: ctx.height, completion: ctx.block.time + keeper.unbondingTime(ctx) };
  if (validator.status === BondStatus.UNBONDED) return undefined;
  return { height: validator.unbondingHeight, completion: timeOf(validator.unbondingTime) };
}

function addRedelegation(
  keeper: StakingKeeper,
  ctx: Context,
  key: RedelegationKey,
  entry: { readonly height: bigint; readonly completion: bigint; readonly amount: bigint; readonly issued: Dec },
): void {
  const { redelegations, redelegationQueue, unbondingIds } = keeper.records;
  const [delegator, from, to] = key;
  const found =
    redelegations.get(store(ctx), key) ??
    create(RedelegationSchema, {
      delegatorAddress: encodeAddress(delegator),
      validatorSrcAddress: encodeAddress(from, "valoper"),
      validatorDstAddress: encodeAddress(to, "valoper"),
    });
  found.entries.push(
    create(RedelegationEntrySchema, {
      creationHeight: entry.height,
      completionTime: timeMessage(entry.completion),
      initialBalance: `${entry.amount}`,
      sharesDst: `${entry.issued}`,
      unbondingId: unbondingIds.next(store(ctx)),
    }),
  );
  redelegations.set(store(ctx), key, found);
  redelegationQueue.push(store(ctx), entry.completion, key);
}

/** Ends the due entries of a redelegation. Returns the moved amounts. */
export function completeRedelegation(keeper: StakingKeeper, ctx: Context, key: RedelegationKey): bigint | undefined {
  const { redelegations } = keeper.records;
  const found = redelegations.get(store(ctx), key);
  if (found === undefined) return undefined;
  const ripe = found.entries.filter((entry) => timeOf(entry.completionTime) <= ctx.block.time);
  const entries = found.entries.filter((entry) => !ripe.includes(entry));
  if (entries.length === 0) redelegations.delete(store(ctx), key);
  else redelegations.set(store(ctx), key, { ...found, entries });
  return ripe.reduce((sum, { initialBalance }) => sum + BigInt(initialBalance), 0n);
}
