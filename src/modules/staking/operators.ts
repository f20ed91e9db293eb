import { create } from "@bufbuild/protobuf";
import type { Context } from "../../runtime/index.ts";
import { DEC_ONE, formatDec, sdkErrors, toUtf8 } from "../../util/index.ts";
import {
  BondStatus,
  type CommissionRates,
  CommissionSchema,
  type Description,
  DescriptionSchema,
  type Validator,
  ValidatorSchema,
} from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import type { MsgCreateValidator, MsgEditValidator } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { decodeAddress, stakingErrors as errors, publicKeyFromAny, publicKeyToAny } from "../../wire/index.ts";
import { timeMessage, timeOf } from "./entries.ts";
import { type StakingKeeper, store } from "./keeper.ts";
import { consensusAddressOf, tokensOf } from "./validator.ts";

/** A text of a description with this content stays as it was. */
const KEEP = "[do-not-modify]";
const DAY = 86_400_000_000_000n;
/** Bytes of each text. */
const LENGTHS = { moniker: 70, identity: 3000, website: 140, securityContact: 140, details: 280 } as const;

/** Makes the validator of an operator, with the operator's own delegation. */
export function createValidator(keeper: StakingKeeper, ctx: Context, msg: MsgCreateValidator, amount: bigint): void {
  const operator = decodeAddress(msg.validatorAddress, "valoper");
  const rate = BigInt(msg.commission?.rate ?? 0);
  checkMinCommission(keeper, ctx, rate);
  if (keeper.findValidator(ctx, operator) !== undefined) throw errors.operatorExists();
  const validator = newValidator(ctx, msg);
  if (keeper.findByConsensus(ctx, consensusAddressOf(validator)) !== undefined) throw errors.keyExists();
  keeper.setValidator(ctx, validator);
  keeper.hooks.afterValidatorCreated(ctx, operator);
  keeper.delegate(ctx, { delegator: operator, validator, amount, from: "account" });
}

function newValidator(ctx: Context, msg: MsgCreateValidator): Validator {
  if (msg.pubkey === undefined) throw errors.keyType("the key is missing");
  return create(ValidatorSchema, {
    operatorAddress: msg.validatorAddress,
    // Stored in one spelling, whichever it came in.
    consensusPubkey: publicKeyToAny(publicKeyFromAny(msg.pubkey)),
    status: BondStatus.UNBONDED,
    tokens: "0",
    delegatorShares: "0",
    description: checkLengths(msg.description ?? create(DescriptionSchema)),
    unbondingTime: timeMessage(0n),
    commission: { commissionRates: msg.commission ?? {}, updateTime: timeMessage(ctx.block.time) },
    minSelfDelegation: msg.minSelfDelegation,
  });
}

/** Throws unless 0 <= rate <= max rate <= 1 and 0 <= change <= max rate. */
export function checkCommission({ rate, maxRate, maxChangeRate }: CommissionRates): void {
  const [now, most, change] = [BigInt(rate), BigInt(maxRate), BigInt(maxChangeRate)];
  if (most < 0n || now < 0n) throw errors.commissionNegative();
  if (most > DEC_ONE) throw errors.commissionHuge();
  if (now > most) throw errors.commissionAboveMax();
  if (change < 0n) throw errors.changeRateNegative();
  if (change > most) throw errors.changeRateAboveMax();
}

/** Changes what the message names of a validator. */
export function editValidator(keeper: StakingKeeper, ctx: Context, msg: MsgEditValidator): Validator {
  const before = keeper.validator(ctx, decodeAddress(msg.validatorAddress, "valoper"));
  const described = { ...before, description: mergeDescription(before.description, msg.description) };
  const priced = msg.commissionRate === undefined ? described : withRate(keeper, ctx, described, msg.commissionRate);
  const after = msg.minSelfDelegation === undefined ? priced : withMinimum(priced, msg.minSelfDelegation);
  keeper.setValidator(ctx, after);
  return after;
}

function withRate(keeper: StakingKeeper, ctx: Context, validator: Validator, text: string): Validator {
  const rate = BigInt(text);
  checkMinCommission(keeper, ctx, rate);
  const { commissionRates, updateTime } = validator.commission ?? {};
  if (ctx.block.time - timeOf(updateTime) < DAY) throw errors.commissionTooSoon();
  if (rate > BigInt(commissionRates?.maxRate ?? 0)) throw errors.commissionAboveMax();
  if (rate - BigInt(commissionRates?.rate ?? 0) > BigInt(commissionRates?.maxChangeRate ?? 0))
    throw errors.commissionChange();
  const { maxRate = "0", maxChangeRate = "0" } = commissionRates ?? {};
  const rates = { rate: text, maxRate, maxChangeRate };
  const commission = create(CommissionSchema, { commissionRates: rates, updateTime: timeMessage(ctx.block.time) });
  return { ...validator, commission };
}

function withMinimum(validator: Validator, text: string): Validator {
  const minimum = BigInt(text);
  if (minimum <= BigInt(validator.minSelfDelegation)) throw errors.minSelfDelegationDecrease();
  if (minimum > tokensOf(validator)) throw errors.selfDelegation();
  return { ...validator, minSelfDelegation: text };
}

function checkMinCommission(keeper: StakingKeeper, ctx: Context, rate: bigint): void {
  const minimum = BigInt(keeper.records.params.require(store(ctx)).minCommissionRate);
  if (rate < minimum)
    throw errors.commissionBelowMin(
      `cannot set validator commission to less than minimum rate of ${formatDec(minimum)}`,
    );
}

function mergeDescription(before: Description | undefined, change: Description | undefined): Description {
  const pick = (name: keyof typeof LENGTHS): string => {
    const text = change?.[name] ?? "";
    return text === KEEP ? (before?.[name] ?? "") : text;
  };
  return checkLengths(
    create(DescriptionSchema, {
      moniker: pick("moniker"),
      identity: pick("identity"),
      website: pick("website"),
      securityContact: pick("securityContact"),
      details: pick("details"),
    }),
  );
}

function checkLengths(description: Description): Description {
  for (const name of ["moniker", "identity", "website", "securityContact", "details"] as const) {
    const { length } = toUtf8(description[name]);
    const words = name === "securityContact" ? "security contact" : name;
    if (length > LENGTHS[name])
      throw sdkErrors.invalidRequest(`invalid ${words} length; got: ${length}, max: ${LENGTHS[name]}`);
  }
  return description;
}
