import {
  MsgCreatePeriodicVestingAccountSchema,
  MsgCreatePermanentLockedAccountSchema,
  MsgCreateVestingAccountSchema,
} from "../../wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { packAny, parseTimestamp } from "../../wire/index.ts";
import { usageError } from "../errors.ts";
import { addressArgument } from "../query/ask.ts";
import type { CommandInput } from "../spec.ts";
import { coinsArgument } from "./coins.ts";
import { LAST_SECOND } from "./expiration.ts";
import { readPeriodsFile } from "./periods-file.ts";
import { runTx } from "./run.ts";

/** `tx vesting create-vesting-account TO AMOUNT END`: coins that come free bit by bit, with `--delayed` all at the end. */
export async function createVestingAccount(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const toAddress = addressArgument(args[0] ?? "", "to-address", flags);
  const amount = coinsArgument(args[1] ?? "", "amount", flags);
  const endTime = secondsOf(args[2] ?? "");
  const delayed = flags.bool("delayed");
  return runTx(input, ({ sender }) => [
    packAny(MsgCreateVestingAccountSchema, { fromAddress: sender.address, toAddress, amount, endTime, delayed }),
  ]);
}

/** `tx vesting create-permanent-locked-account TO AMOUNT`: coins that can be delegated and never sent. */
export async function createPermanentLockedAccount(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const toAddress = addressArgument(args[0] ?? "", "to-address", flags);
  const amount = coinsArgument(args[1] ?? "", "amount", flags);
  return runTx(input, ({ sender }) => [
    packAny(MsgCreatePermanentLockedAccountSchema, { fromAddress: sender.address, toAddress, amount }),
  ]);
}

/** `tx vesting create-periodic-vesting-account TO FILE`: coins that come free at the end of each period of a file. */
export async function createPeriodicVestingAccount(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const toAddress = addressArgument(args[0] ?? "", "to-address", flags);
  const { startTime, periods: vestingPeriods } = readPeriodsFile(args[1] ?? "");
  return runTx(input, ({ sender }) => [
    packAny(MsgCreatePeriodicVestingAccountSchema, {
      fromAddress: sender.address,
      toAddress,
      startTime,
      vestingPeriods,
    }),
  ]);
}

/** A time as people or machines write it, in seconds since 1970. */
function secondsOf(text: string): bigint {
  const seconds = /^\d{1,12}$/.test(text) ? BigInt(text) : parseTimestamp(text)?.seconds;
  if (seconds !== undefined && seconds > 0n && seconds <= LAST_SECOND) return seconds;
  throw usageError(
    `<end-time>: "${text.slice(0, 64)}" is no time`,
    "write it as 2027-01-31T12:00:00Z, or in seconds since 1970",
  );
}
