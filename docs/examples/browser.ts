// A page that needs nothing but a bundler: a key from a mnemonic, the hash of a file, a transfer and its event.
import { ChainClient, mnemonicSigner, sendTx, type TxResponse } from "svc";
import { MsgSendSchema } from "svc/proto/sdk/bank/v1beta1/tx";
import { sdlHash } from "svc/sdl";
import { packAny, toHex } from "svc/wire";

/** The hash of a deployment file in hexadecimal; throws `SdlError` with all faults. */
export function hashOf(file: string): string {
  return toHex(sdlHash(file));
}

/** Sends 1 TOKEN and resolves with the transaction when the node has reported it over its websocket. */
export async function pay(node: string, words: string, to: string): Promise<TxResponse | undefined> {
  const chain = new ChainClient(node);
  const signer = await mnemonicSigner(words);
  const message = packAny(MsgSendSchema, {
    fromAddress: signer.address,
    toAddress: to,
    amount: [{ denom: "utoken", amount: "1000000" }],
  });
  let sent: Promise<TxResponse> | undefined;
  try {
    for await (const { kind } of chain.socket().subscribe(`tm.event='Tx' AND transfer.recipient='${to}'`)) {
      // The subscription has begun: from now on nothing is missed.
      if (kind === "resumed") sent ??= sendTx(chain, signer, [message], { fees: [{ denom: "utoken", amount: 5000n }] });
      else break;
    }
    return await sent;
  } finally {
    chain.close();
  }
}
