import { MsgCreatePeriodicVestingAccountSchema } from "../../../wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { packAny } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { addressArgument } from "../../query/ask.ts";
import { runTx } from "../session/run.ts";
import { readPeriodsFile } from "./periods-file.ts";

/** `tx vesting create-periodic-vesting-account TO FILE`: coins that vest at the end of each period of a file. */
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
