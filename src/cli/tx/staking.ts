import {
  MsgBeginRedelegateSchema,
  MsgCancelUnbondingDelegationSchema,
  MsgDelegateSchema,
  MsgUndelegateSchema,
} from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { packAny } from "../../wire/index.ts";
import { usageError } from "../errors.ts";
import { uintArgument, validatorArgument } from "../query/ask.ts";
import type { CommandInput } from "../spec.ts";
import { coinArgument } from "./coins.ts";
import { runTx } from "./run.ts";

/** `tx staking delegate VALIDATOR AMOUNT`. */
export async function delegate(input: CommandInput): Promise<number> {
  const [validator = "", amountText = ""] = input.args;
  const validatorAddress = validatorArgument(validator, "validator-addr", input.flags);
  const amount = coinArgument(amountText, "amount", input.flags);
  return runTx(input, ({ sender }) => [
    packAny(MsgDelegateSchema, { delegatorAddress: sender.address, validatorAddress, amount }),
  ]);
}

/** `tx staking redelegate SOURCE DESTINATION AMOUNT`. */
export async function redelegate(input: CommandInput): Promise<number> {
  const [source = "", destination = "", amountText = ""] = input.args;
  const validatorSrcAddress = validatorArgument(source, "src-validator-addr", input.flags);
  const validatorDstAddress = validatorArgument(destination, "dst-validator-addr", input.flags);
  if (source === destination) throw usageError("both validators are the same: there is nothing to move");
  const amount = coinArgument(amountText, "amount", input.flags);
  return runTx(input, ({ sender }) => [
    packAny(MsgBeginRedelegateSchema, {
      delegatorAddress: sender.address,
      validatorSrcAddress,
      validatorDstAddress,
      amount,
    }),
  ]);
}

/** `tx staking unbond VALIDATOR AMOUNT`. */
export async function unbond(input: CommandInput): Promise<number> {
  const [validator = "", amountText = ""] = input.args;
  const validatorAddress = validatorArgument(validator, "validator-addr", input.flags);
  const amount = coinArgument(amountText, "amount", input.flags);
  return runTx(input, ({ sender }) => [
    packAny(MsgUndelegateSchema, { delegatorAddress: sender.address, validatorAddress, amount }),
  ]);
}

/** `tx staking cancel-unbond VALIDATOR AMOUNT HEIGHT`: the height at which the unbonding began names it. */
export async function cancelUnbond(input: CommandInput): Promise<number> {
  const [validator = "", amountText = "", height = ""] = input.args;
  const validatorAddress = validatorArgument(validator, "validator-addr", input.flags);
  const amount = coinArgument(amountText, "amount", input.flags);
  const creationHeight = uintArgument(height, "creation-height");
  return runTx(input, ({ sender }) => [
    packAny(MsgCancelUnbondingDelegationSchema, {
      delegatorAddress: sender.address,
      validatorAddress,
      amount,
      creationHeight,
    }),
  ]);
}
