import { create } from "@bufbuild/protobuf";
import type { Context } from "../../runtime/index.ts";
import type { KVStore } from "../../store/index.ts";
import { type Dec, formatCoins, type IntCoin, sdkErrors } from "../../util/index.ts";
import {
  FeePoolSchema,
  type Params,
  ValidatorAccumulatedCommissionSchema,
  ValidatorOutstandingRewardsSchema,
} from "../../wire/gen/sdk/distribution/v1beta1/distribution_pb.js";
import type { Validator } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress, distributionErrors as errors } from "../../wire/index.ts";
import type { Bank } from "../bank/index.ts";
import { type DecCoins, decCoinMessages, fromCoins, minus, plus, readDecCoins, split } from "./deccoins.ts";
import { DistributionRecords, STORE } from "./records.ts";

export const ACCOUNT = "distribution";

/** Functions of staking that rewards need. */
export interface Stake {
  findValidator(ctx: Context, operator: Uint8Array): Validator | undefined;
  findByConsensus(ctx: Context, consensus: Uint8Array): Validator | undefined;
  /** Shares of a delegation; undefined if there is no delegation. */
  shares(ctx: Context, delegator: Uint8Array, validator: Uint8Array): Dec | undefined;
  /** Operators of the validators that the delegator has a stake in. */
  validatorsOf(ctx: Context, delegator: Uint8Array): Uint8Array[];
  validators(ctx: Context): Iterable<Validator>;
  allDelegations(ctx: Context): Iterable<readonly [delegator: Uint8Array, operator: Uint8Array]>;
  bondDenom(ctx: Context): string;
}

export type DistributionBank = Pick<
  Bank,
  "isBlocked" | "moduleBalances" | "sendFromModule" | "sendModuleToModule" | "sendToModule"
>;

/** Who and whose rewards. */
export interface RewardOf {
  readonly delegator: Uint8Array;
  readonly operator: Uint8Array;
}

/** The pots of rewards: dues of each validator's delegators, commissions, and the community pool. */
export class DistributionKeeper {
  readonly records = new DistributionRecords();
  readonly bank: DistributionBank;
  readonly stake: Stake;

  constructor(bank: DistributionBank, stake: Stake) {
    this.bank = bank;
    this.stake = stake;
  }

  getParams(ctx: Context): Params {
    return this.records.params.require(store(ctx));
  }

  /** Throws `distribution/6`. */
  validator(ctx: Context, operator: Uint8Array): Validator {
    const found = this.stake.findValidator(ctx, operator);
    if (found === undefined) throw errors.noValidator();
    return found;
  }

  communityPool(ctx: Context): DecCoins {
    return readDecCoins(this.records.feePool.get(store(ctx))?.communityPool ?? []);
  }

  addToPool(ctx: Context, coins: DecCoins): void {
    if (coins.length > 0) this.setPool(ctx, plus(this.communityPool(ctx), coins));
  }

  setPool(ctx: Context, coins: DecCoins): void {
    this.records.feePool.set(store(ctx), create(FeePoolSchema, { communityPool: decCoinMessages(coins) }));
  }

  outstanding(ctx: Context, operator: Uint8Array): DecCoins {
    return readDecCoins(this.records.outstanding.get(store(ctx), operator)?.rewards ?? []);
  }

  setOutstanding(ctx: Context, operator: Uint8Array, coins: DecCoins): void {
    const rewards = decCoinMessages(coins);
    this.records.outstanding.set(store(ctx), operator, create(ValidatorOutstandingRewardsSchema, { rewards }));
  }

  commission(ctx: Context, operator: Uint8Array): DecCoins {
    return readDecCoins(this.records.commissions.get(store(ctx), operator)?.commission ?? []);
  }

  setCommission(ctx: Context, operator: Uint8Array, coins: DecCoins): void {
    const commission = decCoinMessages(coins);
    this.records.commissions.set(store(ctx), operator, create(ValidatorAccumulatedCommissionSchema, { commission }));
  }

  /** Where the rewards of an account go: to itself unless it said otherwise. */
  withdrawAddress(ctx: Context, delegator: Uint8Array): Uint8Array {
    return this.records.withdrawAddresses.get(store(ctx), delegator) ?? delegator;
  }

  setWithdrawAddress(ctx: Context, delegator: Uint8Array, to: Uint8Array): void {
    const address = encodeAddress(to);
    if (this.bank.isBlocked(to)) throw sdkErrors.unauthorized(`${address} is not allowed to receive external funds`);
    if (!this.getParams(ctx).withdrawAddrEnabled) throw errors.withdrawAddressDisabled();
    ctx.events.emit("set_withdraw_address", { withdraw_address: address });
    this.records.withdrawAddresses.set(store(ctx), delegator, to);
  }

  /** Pays rewards out to the address that the account chose. */
  pay(ctx: Context, delegator: Uint8Array, coins: readonly IntCoin[]): void {
    if (coins.length > 0) this.bank.sendFromModule(ctx, ACCOUNT, this.withdrawAddress(ctx, delegator), coins);
  }

  /** Pays the whole coins of a validator's commission to its operator. Throws `distribution/7` if there are none. */
  withdrawCommission(ctx: Context, operator: Uint8Array): readonly IntCoin[] {
    const due = this.commission(ctx, operator);
    if (due.length === 0) throw errors.noCommission();
    const { whole, rest } = split(due);
    this.setCommission(ctx, operator, rest);
    this.setOutstanding(ctx, operator, minus(this.outstanding(ctx, operator), fromCoins(whole)));
    this.pay(ctx, operator, whole);
    ctx.events.emit("withdraw_commission", { amount: formatCoins(whole) });
    return whole;
  }

  fundPool(ctx: Context, depositor: Uint8Array, coins: readonly IntCoin[]): void {
    this.bank.sendToModule(ctx, depositor, ACCOUNT, coins);
    this.addToPool(ctx, fromCoins(coins));
  }

  /** Pays out of the community's money. Throws `distribution/9` if there is not enough. */
  spendPool(ctx: Context, to: Uint8Array, coins: readonly IntCoin[]): void {
    if (this.bank.isBlocked(to))
      throw sdkErrors.unauthorized(`${encodeAddress(to)} is not allowed to receive external funds`);
    const held = new Map(this.communityPool(ctx).map(({ denom, amount }) => [denom, amount]));
    if (fromCoins(coins).some(({ denom, amount }) => (held.get(denom) ?? 0n) < amount)) throw errors.poolTooSmall();
    this.setPool(ctx, minus(this.communityPool(ctx), fromCoins(coins)));
    this.bank.sendFromModule(ctx, ACCOUNT, to, coins);
  }
}

export function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}
