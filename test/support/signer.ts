import { type ChainClient, sendTx, type TxResponse, type TxSigner } from "../../src/client/index.ts";
import type { TestKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM, parseDec } from "../../src/util/index.ts";
import { Query as BankQuery } from "../../src/wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { type Any, packAny } from "../../src/wire/index.ts";

const GAS_ADJUSTMENT = parseDec("1.3");

export function signerOf(key: TestKey): TxSigner {
  return { address: key.address, publicKey: key.publicKey, sign: async (bytes) => key.sign(bytes) };
}

/** Sends messages without a fee and waits until they are in a block; throws the chain's refusal. */
export async function mustSend(client: ChainClient, key: TestKey, ...messages: readonly Any[]): Promise<TxResponse> {
  const options = {
    gas: "auto" as const,
    gasAdjustment: GAS_ADJUSTMENT,
    mode: "block" as const,
    wait: { pollMs: 100 },
  };
  const response = await sendTx(client, signerOf(key), messages, options);
  if (response.code !== 0) throw new Error(`${response.codespace}/${response.code}: ${response.rawLog}`);
  return response;
}

export function transfer(from: string, to: string, amount: bigint): Any {
  const coin = { denom: NATIVE_DENOM, amount: amount.toString() };
  return packAny(MsgSendSchema, { fromAddress: from, toAddress: to, amount: [coin] });
}

/** The balance of an address in the chain's own token. */
export async function balanceOf(client: ChainClient, address: string): Promise<bigint> {
  const { balance } = await client.query.call(BankQuery.method.balance, { address, denom: NATIVE_DENOM });
  return BigInt(balance?.amount ?? "0");
}
