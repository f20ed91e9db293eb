import { MsgMultiSendSchema } from "../../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { packAny } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { addressArgument } from "../../query/ask.ts";
import { coinsArgument, type MessageCoin } from "../../values/coins.ts";
import { runTx } from "../session/run.ts";

/** Maximum receivers of one transaction; chains have limits of their own. */
const MAX_RECEIVERS = 1000;

/** `tx bank multi-send FROM TO... AMOUNT`: the amount to each, or with `--split` an equal part of it. */
export async function bankMultiSend(input: CommandInput): Promise<number> {
  const { flags } = input;
  const [from = "", ...words] = input.args;
  const amountText = words.pop() ?? "";
  if (words.length === 0) throw usageError("give one or more receivers, then the amount");
  if (words.length > MAX_RECEIVERS) throw usageError(`at most ${MAX_RECEIVERS} receivers, not ${words.length}`);
  const receivers = words.map((text) => addressArgument(text, "to-addresses", flags));
  const given = coinsArgument(amountText, "amount", flags);
  const coins = flags.bool("split") ? given.map((coin) => partOf(coin, receivers.length)) : given;
  const total = coins.map(({ denom, amount }) => ({ denom, amount: `${BigInt(amount) * BigInt(receivers.length)}` }));
  const outputs = receivers.map((address) => ({ address, coins }));
  return runTx(
    input,
    ({ sender }) => [packAny(MsgMultiSendSchema, { inputs: [{ address: sender.address, coins: total }], outputs })],
    from,
  );
}

/** Rounded down: the remainder stays with the sender. */
function partOf({ denom, amount }: MessageCoin, count: number): MessageCoin {
  const part = BigInt(amount) / BigInt(count);
  if (part > 0n) return { denom, amount: part.toString() };
  throw usageError(`<amount>: ${amount}${denom} cannot be split among ${count}`);
}
