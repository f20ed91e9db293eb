import {
  type BoundService,
  bindService,
  type Context,
  checkAddress,
  readCoin,
  updateParams,
} from "../../runtime/index.ts";
import { DEC_ONE, equalBytes, formatCoin, formatDec, type IntCoin, sdkErrors } from "../../util/index.ts";
import type { Coin } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import type { Params } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import {
  Msg,
  type MsgBeginRedelegate,
  type MsgCancelUnbondingDelegation,
  type MsgCreateValidator,
  type MsgDelegate,
  type MsgEditValidator,
  type MsgUndelegate,
} from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import {
  decodeAddress,
  encodeAddress,
  stakingErrors as errors,
  formatTimestamp,
  fromNanos,
  isAddress,
} from "../../wire/index.ts";
import { cancelUnbonding, redelegate, timeMessage, undelegate } from "./entries.ts";
import { paramsProblems } from "./genesis.ts";
import { type StakingKeeper, store } from "./keeper.ts";
import { checkCommission, createValidator, editValidator } from "./operators.ts";

const SECOND = 1_000_000_000n;
/** The record of a validator has three indexes, and costs more to write than its bytes. */
const VALIDATOR_GAS = 20_000n;

export function stakingMsgs(keeper: StakingKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => changeParams(keeper, ctx, params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      createValidator: (ctx, msg) => createHandler(keeper, ctx, msg),
      editValidator: (ctx, msg) => editHandler(keeper, ctx, msg),
      delegate: (ctx, msg) => delegateHandler(keeper, ctx, msg),
      beginRedelegate: (ctx, msg) => redelegateHandler(keeper, ctx, msg),
      undelegate: (ctx, msg) => undelegateHandler(keeper, ctx, msg),
      cancelUnbondingDelegation: (ctx, msg) => cancelHandler(keeper, ctx, msg),
      updateParams: update.handle,
    },
    {
      createValidator: checkCreate,
      editValidator: checkEdit,
      delegate: (msg) => {
        checkPair(msg);
        readAmount(msg.amount, "invalid delegation amount");
      },
      beginRedelegate: (msg) => {
        checkAddress("delegator_address", msg.delegatorAddress);
        checkOperator("validator_src_address", msg.validatorSrcAddress);
        checkOperator("validator_dst_address", msg.validatorDstAddress);
        readAmount(msg.amount, "invalid shares amount");
      },
      undelegate: (msg) => {
        checkPair(msg);
        readAmount(msg.amount, "invalid shares amount");
      },
      cancelUnbondingDelegation: (msg) => {
        checkPair(msg);
        readAmount(msg.amount, "invalid amount");
        if (msg.creationHeight <= 0n) throw sdkErrors.invalidRequest("invalid height");
      },
      updateParams: update.check,
    },
  );
}

function createHandler(keeper: StakingKeeper, ctx: Context, msg: MsgCreateValidator): object {
  const value = bonded(keeper, ctx, readAmount(msg.value, "invalid delegation amount"));
  ctx.gas.consume(VALIDATOR_GAS, "validator");
  createValidator(keeper, ctx, msg, value.amount);
  ctx.events.emit("create_validator", { validator: msg.validatorAddress, amount: formatCoin(value) });
  told(ctx, decodeAddress(msg.validatorAddress, "valoper"));
  return {};
}

function editHandler(keeper: StakingKeeper, ctx: Context, msg: MsgEditValidator): object {
  ctx.gas.consume(VALIDATOR_GAS, "validator");
  const { commission, minSelfDelegation } = editValidator(keeper, ctx, msg);
  ctx.events.emit("edit_validator", {
    commission_rate: formatDec(BigInt(commission?.commissionRates?.rate ?? 0)),
    min_self_delegation: minSelfDelegation,
  });
  told(ctx, decodeAddress(msg.validatorAddress, "valoper"));
  return {};
}

function delegateHandler(keeper: StakingKeeper, ctx: Context, msg: MsgDelegate): object {
  const delegator = decodeAddress(msg.delegatorAddress);
  const validator = keeper.validator(ctx, decodeAddress(msg.validatorAddress, "valoper"));
  const coin = bonded(keeper, ctx, readAmount(msg.amount, "invalid delegation amount"));
  const shares = keeper.delegate(ctx, { delegator, validator, amount: coin.amount, from: "account" });
  ctx.events.emit("delegate", {
    validator: msg.validatorAddress,
    delegator: msg.delegatorAddress,
    amount: formatCoin(coin),
    new_shares: formatDec(shares),
  });
  told(ctx, delegator);
  return {};
}

function redelegateHandler(keeper: StakingKeeper, ctx: Context, msg: MsgBeginRedelegate): object {
  const delegator = decodeAddress(msg.delegatorAddress);
  const source = decodeAddress(msg.validatorSrcAddress, "valoper");
  const destination = decodeAddress(msg.validatorDstAddress, "valoper");
  const coin = readAmount(msg.amount, "invalid shares amount");
  const shares = keeper.sharesToUnbond(ctx, [delegator, source], coin.amount);
  bonded(keeper, ctx, coin);
  const completion = redelegate(keeper, ctx, [delegator, source, destination], shares);
  ctx.events.emit("redelegate", {
    source_validator: msg.validatorSrcAddress,
    destination_validator: msg.validatorDstAddress,
    amount: formatCoin(coin),
    completion_time: timeText(completion),
  });
  told(ctx, delegator);
  return { completionTime: timeMessage(completion) };
}

function undelegateHandler(keeper: StakingKeeper, ctx: Context, msg: MsgUndelegate) {
  const delegator = decodeAddress(msg.delegatorAddress);
  const operator = decodeAddress(msg.validatorAddress, "valoper");
  const coin = readAmount(msg.amount, "invalid shares amount");
  const shares = keeper.sharesToUnbond(ctx, [delegator, operator], coin.amount);
  bonded(keeper, ctx, coin);
  const { completion, amount } = undelegate(keeper, ctx, [delegator, operator], shares);
  ctx.events.emit("unbond", {
    validator: msg.validatorAddress,
    delegator: msg.delegatorAddress,
    amount: formatCoin({ denom: coin.denom, amount }),
    completion_time: timeText(completion),
  });
  told(ctx, delegator);
  return { completionTime: timeMessage(completion), amount: { denom: coin.denom, amount: `${amount}` } };
}

function cancelHandler(keeper: StakingKeeper, ctx: Context, msg: MsgCancelUnbondingDelegation): object {
  const delegator = decodeAddress(msg.delegatorAddress);
  const coin = bonded(keeper, ctx, readAmount(msg.amount, "invalid amount"));
  const key = [delegator, decodeAddress(msg.validatorAddress, "valoper")] as const;
  cancelUnbonding(keeper, ctx, { key, amount: coin.amount, height: msg.creationHeight });
  ctx.events.emit("cancel_unbonding_delegation", {
    amount: formatCoin(coin),
    validator: msg.validatorAddress,
    delegator: msg.delegatorAddress,
    creation_height: msg.creationHeight.toString(),
  });
  told(ctx, delegator);
  return {};
}

/** Delegated tokens keep their denomination: the pools could not pay out another. */
function changeParams(keeper: StakingKeeper, ctx: Context, params: Params): void {
  const denom = keeper.bondDenom(ctx);
  if (params.bondDenom !== denom && keeper.records.validators.count(store(ctx)) > 0)
    throw errors.invalidParams(`params.bond_denom: ${denom} is delegated, it cannot become ${params.bondDenom}`);
  keeper.records.params.set(store(ctx), params);
}

function checkCreate(msg: MsgCreateValidator): void {
  checkOperator("validator_address", msg.validatorAddress);
  const isOwn =
    msg.delegatorAddress === "" ||
    (isAddress(msg.delegatorAddress) &&
      equalBytes(decodeAddress(msg.delegatorAddress), decodeAddress(msg.validatorAddress, "valoper")));
  if (!isOwn) throw errors.badOperator(`delegator_address ${JSON.stringify(msg.delegatorAddress.slice(0, 100))}`);
  if (msg.pubkey === undefined) throw errors.keyType("the key is missing");
  const value = readAmount(msg.value, "invalid delegation amount");
  if (isEmpty(msg.description)) throw sdkErrors.invalidRequest("empty description");
  if (msg.commission === undefined) throw sdkErrors.invalidRequest("empty commission");
  checkCommission(msg.commission);
  const minimum = BigInt(msg.minSelfDelegation);
  if (minimum <= 0n) throw sdkErrors.invalidRequest("minimum self delegation must be a positive integer");
  if (value.amount < minimum) throw errors.selfDelegation();
}

function checkEdit(msg: MsgEditValidator): void {
  checkOperator("validator_address", msg.validatorAddress);
  if (isEmpty(msg.description)) throw sdkErrors.invalidRequest("empty description");
  if (msg.minSelfDelegation !== undefined && BigInt(msg.minSelfDelegation) <= 0n)
    throw sdkErrors.invalidRequest("minimum self delegation must be a positive integer");
  const rate = msg.commissionRate === undefined ? 0n : BigInt(msg.commissionRate);
  if (rate < 0n || rate > DEC_ONE)
    throw sdkErrors.invalidRequest("commission rate must be between 0 and 1 (inclusive)");
}

function isEmpty(description: MsgCreateValidator["description"]): boolean {
  const { moniker = "", identity = "", website = "", securityContact = "", details = "" } = description ?? {};
  return [moniker, identity, website, securityContact, details].every((text) => text === "");
}

function checkPair(msg: { readonly delegatorAddress: string; readonly validatorAddress: string }): void {
  checkAddress("delegator_address", msg.delegatorAddress);
  checkOperator("validator_address", msg.validatorAddress);
}

/** Throws `sdk/7` unless the text is the address of a validator's operator. */
export function checkOperator(field: string, text: string): void {
  if (!isAddress(text, "valoper"))
    throw sdkErrors.invalidAddress(`${field} ${JSON.stringify(text.slice(0, 100))} is not a validator address`);
}

function readAmount(coin: Coin | undefined, refusal: string): IntCoin {
  const read = readCoin(coin);
  if (read.amount === 0n) throw sdkErrors.invalidRequest(refusal);
  return read;
}

/** Throws `sdk/18` unless the coin is of the denomination that is staked. */
function bonded(keeper: StakingKeeper, ctx: Context, coin: IntCoin): IntCoin {
  const denom = keeper.bondDenom(ctx);
  if (coin.denom !== denom)
    throw sdkErrors.invalidRequest(`invalid coin denomination: got ${coin.denom}, expected ${denom}`);
  return coin;
}

function told(ctx: Context, sender: Uint8Array): void {
  ctx.events.emit("message", { module: "staking", sender: encodeAddress(sender) });
}

/** Cut to the second. */
function timeText(nanos: bigint): string {
  return formatTimestamp(fromNanos(nanos - (((nanos % SECOND) + SECOND) % SECOND)));
}
