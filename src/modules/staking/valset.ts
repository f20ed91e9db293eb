import { create } from "@bufbuild/protobuf";
import type { ValidatorUpdate } from "../../abci/index.ts";
import type { Context } from "../../runtime/index.ts";
import { compareBytes, formatCoin, fromHex, toHex } from "../../util/index.ts";
import { BondStatus, HistoricalInfoSchema, type Validator } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress, fromNanos } from "../../wire/index.ts";
import { completeRedelegation, completeUnbonding, timeMessage, timeOf } from "./entries.ts";
import { pairText, type StakingKeeper, store } from "./keeper.ts";
import {
  byPower,
  consensusAddressOf,
  consensusKeyOf,
  isBonded,
  operatorOf,
  powerOf,
  sharesOf,
  tokensOf,
} from "./validator.ts";

/** Maximum entries of each queue that one block completes; the rest follows in the next blocks. */
const MAX_COMPLETED = 500;
/** Maximum old validator records that one block deletes. */
const MAX_FORGOTTEN = 100n;

/** The changes of the voters by this block, and everything that has become due. */
export function endBlock(keeper: StakingKeeper, ctx: Context): readonly ValidatorUpdate[] {
  const updates = updateVoters(keeper, ctx);
  completeValidators(keeper, ctx);
  completeUnbondings(keeper, ctx);
  completeRedelegations(keeper, ctx);
  return updates;
}

/** Bonds the strongest validators, as many as allowed, and unbonds the others. */
export function updateVoters(keeper: StakingKeeper, ctx: Context): ValidatorUpdate[] {
  const { lastPowers, lastTotalPower } = keeper.records;
  const last = new Map([...lastPowers.iterate(store(ctx))].map(([operator, power]) => [toHex(operator), power]));
  const updates: ValidatorUpdate[] = [];
  let [totalPower, moved] = [0n, 0n];
  for (const [operator, found] of strongest(keeper, ctx)) {
    const validator = isBonded(found) ? found : bond(keeper, ctx, found);
    if (!isBonded(found)) moved += tokensOf(validator);
    const power = powerOf(validator);
    totalPower += power;
    const id = toHex(operator);
    if (last.get(id) !== power) {
      updates.push({ pubKey: consensusKeyOf(validator), power });
      lastPowers.set(store(ctx), operator, power);
    }
    last.delete(id);
  }
  for (const operator of leavers(last)) {
    const validator = beginUnbonding(keeper, ctx, keeper.validator(ctx, operator));
    moved -= tokensOf(validator);
    lastPowers.delete(store(ctx), operator);
    updates.push({ pubKey: consensusKeyOf(validator), power: 0n });
  }
  keeper.movePools(ctx, moved > 0n ? "bonded" : "not bonded", moved > 0n ? moved : -moved);
  // Without voters there is no record, as in a genesis without voters.
  if (totalPower === 0n) lastTotalPower.delete(store(ctx));
  else if (updates.length > 0) lastTotalPower.set(store(ctx), totalPower);
  return updates;
}

/** The voters last reported to the engine. */
export function lastVoters(keeper: StakingKeeper, ctx: Context): ValidatorUpdate[] {
  return [...keeper.records.lastPowers.iterate(store(ctx))].map(([operator, power]) => ({
    pubKey: consensusKeyOf(keeper.validator(ctx, operator)),
    power,
  }));
}

function strongest(keeper: StakingKeeper, ctx: Context): [Uint8Array, Validator][] {
  const { maxValidators } = keeper.getParams(ctx);
  const found: [Uint8Array, Validator][] = [];
  for (const row of keeper.records.validators.by.power.iterate(store(ctx), { reverse: true })) {
    if (found.length === maxValidators || powerOf(row[1]) === 0n) break;
    found.push(row);
  }
  return found;
}

function leavers(last: ReadonlyMap<string, bigint>): Uint8Array[] {
  return [...last.keys()].map(fromHex).sort(compareBytes);
}

function bond(keeper: StakingKeeper, ctx: Context, validator: Validator): Validator {
  const operator = operatorOf(validator);
  const bonded = { ...validator, status: BondStatus.BONDED };
  keeper.setValidator(ctx, bonded);
  keeper.records.validatorQueue.remove(store(ctx), queueTime(validator), operator);
  keeper.hooks.afterValidatorBonded(ctx, operator, consensusAddressOf(bonded));
  return bonded;
}

function beginUnbonding(keeper: StakingKeeper, ctx: Context, validator: Validator): Validator {
  const completion = ctx.block.time + keeper.unbondingTime(ctx);
  const unbonding = {
    ...validator,
    status: BondStatus.UNBONDING,
    unbondingTime: timeMessage(completion),
    unbondingHeight: ctx.height,
    unbondingIds: [...validator.unbondingIds, keeper.records.unbondingIds.next(store(ctx))],
  };
  keeper.setValidator(ctx, unbonding);
  keeper.records.validatorQueue.push(store(ctx), completion, operatorOf(validator));
  return unbonding;
}

/** Validators that never began to unbond have times before 1970. */
function queueTime({ unbondingTime }: Validator): bigint {
  const time = timeOf(unbondingTime);
  return time < 0n ? 0n : time;
}

function completeValidators(keeper: StakingKeeper, ctx: Context): void {
  for (const { key: operator } of keeper.records.validatorQueue.popDue(store(ctx), ctx.block.time, MAX_COMPLETED)) {
    const validator = keeper.validator(ctx, operator);
    keeper.setValidator(ctx, { ...validator, status: BondStatus.UNBONDED });
    if (sharesOf(validator) === 0n) keeper.removeValidator(ctx, operator);
  }
}

function completeUnbondings(keeper: StakingKeeper, ctx: Context): void {
  const denom = keeper.bondDenom(ctx);
  for (const { key } of keeper.records.unbondingQueue.popDue(store(ctx), ctx.block.time, MAX_COMPLETED)) {
    const amount = completeUnbonding(keeper, ctx, key);
    if (amount === undefined) continue;
    const { delegator, validator } = pairText(...key);
    ctx.events.emit("complete_unbonding", { amount: coinText(denom, amount), validator, delegator });
  }
}

function completeRedelegations(keeper: StakingKeeper, ctx: Context): void {
  const denom = keeper.bondDenom(ctx);
  for (const { key } of keeper.records.redelegationQueue.popDue(store(ctx), ctx.block.time, MAX_COMPLETED)) {
    const amount = completeRedelegation(keeper, ctx, key);
    if (amount === undefined) continue;
    const [delegator, source, destination] = key;
    ctx.events.emit("complete_redelegation", {
      amount: coinText(denom, amount),
      delegator: encodeAddress(delegator),
      source_validator: encodeAddress(source, "valoper"),
      destination_validator: encodeAddress(destination, "valoper"),
    });
  }
}

/** Zero coins have no text. */
function coinText(denom: string, amount: bigint): string {
  return amount === 0n ? "" : formatCoin({ denom, amount });
}

/** For a chain without an engine. */
const NO_HASH = new Uint8Array(0);

/** Remembers the block and its voters for as many blocks as the parameters say. */
export function trackHistory(keeper: StakingKeeper, ctx: Context): void {
  const { history } = keeper.records;
  const entries = BigInt(keeper.getParams(ctx).historicalEntries);
  forget(keeper, ctx, ctx.height - entries);
  if (entries === 0n) return;
  const valset = [...keeper.records.lastPowers.keys(store(ctx))].map((operator) => keeper.validator(ctx, operator));
  valset.sort(byPower);
  const { chainId, height, time, proposer, appHash, nextValidatorsHash } = ctx.block;
  const hashes = { appHash: appHash ?? NO_HASH, nextValidatorsHash: nextValidatorsHash ?? NO_HASH };
  const header = { chainId, height, time: fromNanos(time), ...hashes, proposerAddress: proposer };
  history.set(store(ctx), height, create(HistoricalInfoSchema, { header, valset }));
}

function forget(keeper: StakingKeeper, ctx: Context, upTo: bigint): void {
  if (upTo < 0n) return;
  const { history } = keeper.records;
  let left = MAX_FORGOTTEN;
  for (const height of history.keys(store(ctx), { end: upTo + 1n })) {
    history.delete(store(ctx), height);
    left -= 1n;
    if (left === 0n) break;
  }
}
