import { errorText, formatCoins, parseCoins } from "../../util/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { packAny } from "../../wire/index.ts";
import { usageError } from "../errors.ts";
import { addressArgument } from "../query/ask.ts";
import type { CommandInput } from "../spec.ts";
import { runTx } from "./run.ts";

/** `tx bank send FROM TO AMOUNT`. The sender is the first argument, whatever `--from` says. */
export async function bankSend(input: CommandInput): Promise<number> {
  const [from = "", to = "", amountText = ""] = input.args;
  const toAddress = addressArgument(to, "to-address", input.flags);
  const amount = readAmount(amountText, input.flags.profile.denom);
  const build = ({ sender }: { readonly sender: { readonly address: string } }) => [
    packAny(MsgSendSchema, { fromAddress: sender.address, toAddress, amount }),
  ];
  return runTx(input, build, from);
}

function readAmount(text: string, denom: string): { denom: string; amount: string }[] {
  let coins: ReturnType<typeof parseCoins>;
  try {
    coins = parseCoins(text);
  } catch (error) {
    throw usageError(`<amount>: ${errorText(error)}`);
  }
  if (coins.length === 0 || coins.some(({ amount }) => amount === 0n)) {
    throw usageError(
      `<amount>: "${formatCoins(coins)}" is nothing to send`,
      `write an amount above zero, for example 5000${denom}`,
    );
  }
  return coins.map(({ denom, amount }) => ({ denom, amount: amount.toString() }));
}
