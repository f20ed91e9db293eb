import { MsgUnjailSchema } from "../../wire/gen/sdk/slashing/v1beta1/tx_pb.js";
import { decodeAddress, encodeAddress, packAny } from "../../wire/index.ts";
import type { CommandInput } from "../spec.ts";
import { runTx } from "./run.ts";

/** `tx slashing unjail`: the validator is the one that the sender operates. */
export function slashingUnjail(input: CommandInput): Promise<number> {
  const prefix = input.flags.profile.bech32Prefix;
  return runTx(input, ({ sender }) => {
    const operator = decodeAddress(sender.address, "account", prefix);
    return [packAny(MsgUnjailSchema, { validatorAddr: encodeAddress(operator, "valoper", prefix) })];
  });
}
