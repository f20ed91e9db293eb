import type { Context } from "../../runtime/index.ts";
import type { KVStore } from "../../store/index.ts";
import { assert, type Dec, decTruncate, equalBytes, formatDec, sdkErrors } from "../../util/index.ts";
import { BondStatus, type Params, type Validator } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress, stakingErrors as errors, toNanos } from "../../wire/index.ts";
import type { Bank } from "../bank/index.ts";
import { type DelegationKey, type RedelegationKey, STORE, StakingRecords } from "./records.ts";
import {
  addTokens,
  byPower,
  consensusAddressOf,
  hasNoRate,
  isBonded,
  operatorOf,
  removeShares,
  sharesForTokens,
  sharesOf,
  tokensForShares,
  tokensOf,
} from "./validator.ts";

export const BONDED_POOL = "bonded_tokens_pool";
export const NOT_BONDED_POOL = "not_bonded_tokens_pool";

/** Functions of the bank that staking needs. */
export type StakingBank = Pick<
  Bank,
  "burn" | "delegate" | "moduleBalance" | "sendModuleToModule" | "supply" | "undelegate"
>;

/** Hooks for changes of validators and delegations. Addresses are operator addresses unless stated otherwise. */
export interface StakingHooks {
  afterValidatorCreated(ctx: Context, validator: Uint8Array): void;
  afterValidatorRemoved(ctx: Context, validator: Uint8Array, consensus: Uint8Array): void;
  afterValidatorBonded(ctx: Context, validator: Uint8Array, consensus: Uint8Array): void;
  beforeDelegationCreated(ctx: Context, delegator: Uint8Array, validator: Uint8Array): void;
  beforeSharesModified(ctx: Context, delegator: Uint8Array, validator: Uint8Array): void;
  afterDelegationModified(ctx: Context, delegator: Uint8Array, validator: Uint8Array): void;
  /** Called after the shares of a delegation have changed by this much, or by all of them when it began or ended. */
  afterSharesChanged(ctx: Context, delegation: DelegationKey, change: Dec): void;
  /** `fraction` of its tokens is about to be burnt. */
  beforeValidatorSlashed(ctx: Context, validator: Uint8Array, fraction: Dec): void;
}

/** A bonded validator with its tokens and the shares of its delegations. */
export interface BondedValidator {
  readonly operator: Uint8Array;
  readonly tokens: bigint;
  readonly shares: Dec;
}

/** Money that becomes part of a delegation. */
export interface NewDelegation {
  readonly delegator: Uint8Array;
  readonly validator: Validator;
  readonly amount: bigint;
  /** Where it is: in the delegator's account, or in the pool of validators with this status. */
  readonly from: "account" | BondStatus;
}

/** Validators, delegations and the two pools that hold their tokens. */
export class StakingKeeper {
  readonly records = new StakingRecords();
  readonly bank: StakingBank;
  readonly hooks: Readonly<StakingHooks>;

  constructor(bank: StakingBank, listeners: readonly Partial<StakingHooks>[]) {
    this.bank = bank;
    this.hooks = toAll(listeners);
  }

  getParams(ctx: Context): Params {
    return this.records.params.require(store(ctx));
  }

  /** Length of an unbonding in nanoseconds. */
  unbondingTime(ctx: Context): bigint {
    const { unbondingTime } = this.getParams(ctx);
    return unbondingTime === undefined ? 0n : toNanos(unbondingTime);
  }

  bondDenom(ctx: Context): string {
    return this.getParams(ctx).bondDenom;
  }

  /** Throws `staking/4`. */
  validator(ctx: Context, operator: Uint8Array): Validator {
    const found = this.findValidator(ctx, operator);
    if (found === undefined) throw errors.noValidator();
    return found;
  }

  findValidator(ctx: Context, operator: Uint8Array): Validator | undefined {
    return this.records.validators.get(store(ctx), operator);
  }

  /** The validator that signs with the key of a consensus address. */
  findByConsensus(ctx: Context, consensus: Uint8Array): Validator | undefined {
    for (const [, validator] of this.records.validators.by.consensus.iterate(store(ctx), { prefix: [consensus] }))
      return validator;
    return undefined;
  }

  setValidator(ctx: Context, validator: Validator): void {
    this.records.validators.set(store(ctx), operatorOf(validator), validator);
  }

  /** Shares of a delegation; undefined if there is no delegation. */
  shares(ctx: Context, delegator: Uint8Array, validator: Uint8Array): Dec | undefined {
    return this.records.delegations.get(store(ctx), [delegator, validator]);
  }

  /** Everybody who is a validator, by operator. */
  validators(ctx: Context): Iterable<Validator> {
    return this.records.validators.values(store(ctx));
  }

  /** All delegators with their validators. */
  allDelegations(ctx: Context): Iterable<readonly [delegator: Uint8Array, operator: Uint8Array]> {
    return this.records.delegations.keys(store(ctx));
  }

  /** Operators of the validators that the delegator has a stake in. */
  validatorsOf(ctx: Context, delegator: Uint8Array): Uint8Array[] {
    return [...this.records.delegations.keys(store(ctx), { prefix: [delegator] })].map(([, operator]) => operator);
  }

  /** The delegations of an account. */
  *delegations(ctx: Context, delegator: Uint8Array): IterableIterator<readonly [operator: Uint8Array, shares: Dec]> {
    for (const [[, operator], shares] of this.records.delegations.iterate(store(ctx), { prefix: [delegator] }))
      yield [operator, shares];
  }

  /**
   * The validators that are bonded and not jailed, by power: at most `max_validators`. Stronger ones that are not
   * bonded yet are not counted.
   */
  bondedValidators(ctx: Context): BondedValidator[] {
    return [...this.records.lastPowers.keys(store(ctx))]
      .map((operator) => this.validator(ctx, operator))
      .filter(({ jailed }) => !jailed)
      .sort(byPower)
      .slice(0, this.getParams(ctx).maxValidators)
      .map((each) => ({ operator: operatorOf(each), tokens: tokensOf(each), shares: sharesOf(each) }));
  }

  /** Tokens of all bonded validators. */
  totalBonded(ctx: Context): bigint {
    return this.bank.moduleBalance(ctx, BONDED_POOL, this.bondDenom(ctx));
  }

  /** Part of the supply that is bonded, as a decimal cut at the last digit. */
  bondedRatio(ctx: Context): Dec {
    const supply = this.bank.supply(ctx, this.bondDenom(ctx));
    return supply === 0n ? 0n : (this.totalBonded(ctx) * 10n ** 18n) / supply;
  }

  /** Adds money to a delegation, or begins one. Returns the shares that it got. */
  delegate(ctx: Context, { delegator, validator, amount, from }: NewDelegation): Dec {
    if (hasNoRate(validator)) throw errors.exchangeRate();
    const operator = operatorOf(validator);
    const before = this.shares(ctx, delegator, operator);
    if (before === undefined) this.hooks.beforeDelegationCreated(ctx, delegator, operator);
    else this.hooks.beforeSharesModified(ctx, delegator, operator);
    this.#collect(ctx, { delegator, validator, amount, from });
    const { validator: after, issued } = addTokens(validator, amount);
    this.setValidator(ctx, after);
    this.records.delegations.set(store(ctx), [delegator, operator], (before ?? 0n) + issued);
    this.hooks.afterSharesChanged(ctx, [delegator, operator], issued);
    this.hooks.afterDelegationModified(ctx, delegator, operator);
    return issued;
  }

  /**
   * Removes shares from a delegation. Returns the whole tokens that they were worth: these are no longer the
   * validator's, but still in its pool. If the operator is left with less than the validator's minimum, the validator
   * is jailed.
   */
  unbond(ctx: Context, delegator: Uint8Array, operator: Uint8Array, shares: Dec): bigint {
    const before = this.shares(ctx, delegator, operator);
    if (before === undefined) throw errors.noDelegator();
    this.hooks.beforeSharesModified(ctx, delegator, operator);
    if (before < shares) throw errors.notEnoughShares(formatDec(before));
    const left = before - shares;
    if (equalBytes(delegator, operator)) this.#jailBelowMinimum(ctx, this.validator(ctx, operator), left);
    if (left === 0n) this.records.delegations.delete(store(ctx), [delegator, operator]);
    else {
      this.records.delegations.set(store(ctx), [delegator, operator], left);
      this.hooks.afterDelegationModified(ctx, delegator, operator);
    }
    this.hooks.afterSharesChanged(ctx, [delegator, operator], -shares);
    const { validator, tokens } = removeShares(this.validator(ctx, operator), shares);
    this.setValidator(ctx, validator);
    if (sharesOf(validator) === 0n && validator.status === BondStatus.UNBONDED) this.removeValidator(ctx, operator);
    return tokens;
  }

  /** The shares that correspond to an amount of a delegation. Throws `sdk/18` if it does not have that many. */
  sharesToUnbond(ctx: Context, [delegator, operator]: readonly [Uint8Array, Uint8Array], amount: bigint): Dec {
    const validator = this.validator(ctx, operator);
    const held = this.shares(ctx, delegator, operator);
    if (held === undefined) throw errors.noDelegation();
    const shares = sharesForTokens(validator, amount);
    if (shares > held) throw sdkErrors.invalidRequest("invalid shares amount");
    return shares;
  }

  /** Deletes a validator without delegations that is no longer bonded. */
  removeValidator(ctx: Context, operator: Uint8Array): void {
    const validator = this.validator(ctx, operator);
    assert(validator.status === BondStatus.UNBONDED, "a validator leaves when it is unbonded");
    assert(tokensOf(validator) === 0n, "a validator without delegations has no tokens");
    this.records.validators.delete(store(ctx), operator);
    this.hooks.afterValidatorRemoved(ctx, operator, consensusAddressOf(validator));
  }

  /** Removes a validator from the candidates for bonding. Throws `staking/8` if it is removed already. */
  jail(ctx: Context, validator: Validator): void {
    if (validator.jailed) throw errors.jailed(`cannot jail already jailed validator ${validator.operatorAddress}`);
    this.setValidator(ctx, { ...validator, jailed: true });
  }

  unjail(ctx: Context, validator: Validator): void {
    this.setValidator(ctx, { ...validator, jailed: false });
  }

  /** Moves tokens into the pool of bonded validators, or out of it. */
  movePools(ctx: Context, to: "bonded" | "not bonded", amount: bigint): void {
    if (amount === 0n) return;
    const [from, into] = to === "bonded" ? [NOT_BONDED_POOL, BONDED_POOL] : [BONDED_POOL, NOT_BONDED_POOL];
    this.bank.sendModuleToModule(ctx, from, into, [{ denom: this.bondDenom(ctx), amount }]);
  }

  /** Destroys tokens of a pool. */
  burn(ctx: Context, pool: "bonded" | "not bonded", amount: bigint): void {
    if (amount === 0n) return;
    const name = pool === "bonded" ? BONDED_POOL : NOT_BONDED_POOL;
    this.bank.burn(ctx, name, [{ denom: this.bondDenom(ctx), amount }]);
  }

  /** Whether money of the delegator is still on its way to this validator. */
  isReceiving(ctx: Context, delegator: Uint8Array, validator: Uint8Array): boolean {
    const { destination } = this.records.redelegations.by;
    for (const _ of destination.keys(store(ctx), { prefix: [validator, delegator] })) return true;
    return false;
  }

  /** Redelegations away from a validator. */
  redelegationsFrom(ctx: Context, operator: Uint8Array): RedelegationKey[] {
    return [...this.records.redelegations.by.source.keys(store(ctx), { prefix: [operator] })];
  }

  #collect(ctx: Context, { delegator, validator, amount, from }: NewDelegation): void {
    if (from === "account") {
      const pool = isBonded(validator) ? BONDED_POOL : NOT_BONDED_POOL;
      this.bank.delegate(ctx, delegator, pool, [{ denom: this.bondDenom(ctx), amount }]);
      return;
    }
    const wasBonded = from === BondStatus.BONDED;
    if (wasBonded !== isBonded(validator)) this.movePools(ctx, wasBonded ? "not bonded" : "bonded", amount);
  }

  #jailBelowMinimum(ctx: Context, validator: Validator, left: Dec): void {
    if (validator.jailed) return;
    if (decTruncate(tokensForShares(validator, left)) < BigInt(validator.minSelfDelegation)) this.jail(ctx, validator);
  }
}

export function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}

/** The text of a delegation's two addresses. */
export function pairText(delegator: Uint8Array, validator: Uint8Array): { delegator: string; validator: string } {
  return { delegator: encodeAddress(delegator), validator: encodeAddress(validator, "valoper") };
}

/** Tells all listeners, in their order. */
function toAll(listeners: readonly Partial<StakingHooks>[]): StakingHooks {
  return {
    afterValidatorCreated: (...all) => {
      for (const each of listeners) each.afterValidatorCreated?.(...all);
    },
    afterValidatorRemoved: (...all) => {
      for (const each of listeners) each.afterValidatorRemoved?.(...all);
    },
    afterValidatorBonded: (...all) => {
      for (const each of listeners) each.afterValidatorBonded?.(...all);
    },
    beforeDelegationCreated: (...all) => {
      for (const each of listeners) each.beforeDelegationCreated?.(...all);
    },
    beforeSharesModified: (...all) => {
      for (const each of listeners) each.beforeSharesModified?.(...all);
    },
    afterDelegationModified: (...all) => {
      for (const each of listeners) each.afterDelegationModified?.(...all);
    },
    afterSharesChanged: (...all) => {
      for (const each of listeners) each.afterSharesChanged?.(...all);
    },
    beforeValidatorSlashed: (...all) => {
      for (const each of listeners) each.beforeValidatorSlashed?.(...all);
    },
  };
}
