import { errorText } from "../../util/index.ts";
import type { GenesisState } from "../../wire/gen/sdk/genutil/v1beta1/genutil_pb.js";
import { MsgCreateValidatorSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { AuthInfoSchema, type Tx, TxBodySchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { encodeMessage, encodeTx, genutilErrors as errors, MAX_TX_BYTES, unpackAs } from "../../wire/index.ts";

/** Most transactions that a genesis file may begin with. */
export const MAX_GENESIS_TXS = 1000;

/** The bytes of a transaction of a genesis file. Throws `genutil/2` on one that makes no validator. */
export function genesisTxBytes({ body, authInfo, signatures }: Tx): Uint8Array {
  if (body === undefined || authInfo === undefined) throw errors.invalidTx("body and auth_info are needed");
  const [message, ...others] = body.messages;
  if (others.length > 0 || unpackAs(MsgCreateValidatorSchema, message) === undefined)
    throw errors.invalidTx("it must have exactly one message, MsgCreateValidator");
  const bytes = encodeTx(
    { bodyBytes: encodeMessage(TxBodySchema, body), authInfoBytes: encodeMessage(AuthInfoSchema, authInfo) },
    signatures,
  );
  if (bytes.length > MAX_TX_BYTES) throw errors.invalidTx(`it has ${bytes.length} bytes, at most ${MAX_TX_BYTES}`);
  return bytes;
}

/** Faults of the transactions of a genesis file, one sentence each; signatures are checked at the start. */
export function genesisTxProblems({ genTxs }: GenesisState): string[] {
  if (genTxs.length > MAX_GENESIS_TXS) return [`gen_txs: at most ${MAX_GENESIS_TXS} are allowed`];
  return genTxs.flatMap((tx, i) => {
    try {
      genesisTxBytes(tx);
      return [];
    } catch (error) {
      return [`gen_txs[${i}]: ${errorText(error)}`];
    }
  });
}
