import { ChainClient, sendTx } from "../../client/index.ts";
import { formatCoins, NATIVE_DENOM, parseCoins, printable } from "../../util/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { decodeAddress, encodeAddress, packAny } from "../../wire/index.ts";
import { userPath } from "../command/home.ts";
import { inArgument } from "../command/in-flag.ts";
import type { CommandInput } from "../command/spec.ts";
import { commandError } from "../errors.ts";
import { defaultLocalnetHome, keySigner, localnetKeyring, readState } from "./home.ts";
import { localnetPorts } from "./ports.ts";

const DEFAULT_AMOUNT = `100000000${NATIVE_DENOM}`;

/** `svc faucet ADDRESS [AMOUNT]`: tokens from a running localnet. */
export async function faucet({ args, flags, io }: CommandInput): Promise<number> {
  const [address = "", text = DEFAULT_AMOUNT] = args;
  inArgument("address", () => decodeAddress(address));
  const amount = inArgument("amount", () => parseCoins(text)).map((coin) => ({
    denom: coin.denom,
    amount: coin.amount.toString(),
  }));
  const offset = flags.count("port-offset");
  localnetPorts(offset);
  const home = userPath(flags.optional("home") ?? defaultLocalnetHome(offset));
  const client = new ChainClient(readState(home, offset).rpc, { onRetry: (text) => io.err(`${printable(text)}\n`) });
  try {
    const signer = await keySigner(localnetKeyring(home), "faucet");
    const message = packAny(MsgSendSchema, {
      fromAddress: signer.address,
      toAddress: encodeAddress(decodeAddress(address)),
      amount,
    });
    const { code, rawLog, txhash, height } = await sendTx(client, signer, [message]);
    if (code !== 0) throw commandError(`the faucet could not send: ${rawLog}`);
    if (flags.text("output") === "json") io.out(`${JSON.stringify({ txhash, height: height.toString(), amount })}\n`);
    else io.out(`sent ${formatCoins(amount)} to ${address} in block ${height} (${txhash})\n`);
    return 0;
  } finally {
    client.close();
  }
}
