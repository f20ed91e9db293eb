import { sdkErrors, toBase64 } from "../../util/index.ts";
import { SignMode } from "../gen/sdk/tx/signing/v1beta1/signing_pb.js";
import type { SignerInfo } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import type { JsonObject } from "../json/index.ts";
import { decodeMultiSignature, encodeAminoMultiSignature, publicKeyFromAny } from "../keys/index.ts";
import { aminoFee, aminoMessage, aminoPublicKey } from "../tx/amino.ts";
import type { DecodedTx } from "../tx/strict.ts";

/**
 * A transaction signed in amino JSON mode in the shape of the era before protobuf, as `tx sign --amino` prints it.
 * Throws `sdkErrors.invalidRequest` for a signature of another mode.
 */
export function toStdTx(tx: DecodedTx): JsonObject {
  return {
    msg: tx.messages.map((message) => aminoMessage(message, "older")),
    fee: aminoFee(tx.authInfo.fee),
    signatures: tx.authInfo.signerInfos.map((info, i) => stdSignature(info, tx.raw.signatures[i] ?? new Uint8Array())),
    memo: tx.body.memo,
    timeout_height: tx.body.timeoutHeight.toString(),
  };
}

function stdSignature(info: SignerInfo, signature: Uint8Array): JsonObject {
  const pubKey = info.publicKey === undefined ? null : aminoPublicKey(publicKeyFromAny(info.publicKey));
  return { pub_key: pubKey, signature: toBase64(stdSignatureBytes(info, signature)) };
}

/** The signature of a signer in legacy amino. Throws `sdkErrors.invalidRequest` for one of another mode. */
export function stdSignatureBytes(info: SignerInfo, signature: Uint8Array): Uint8Array {
  const sum = info.modeInfo?.sum;
  if (sum?.case === "single" && sum.value.mode === SignMode.LEGACY_AMINO_JSON) return signature;
  if (sum?.case === "multi" && sum.value.bitarray !== undefined) {
    return encodeAminoMultiSignature(sum.value.bitarray, decodeMultiSignature(signature));
  }
  throw sdkErrors.invalidRequest("only signatures of mode amino-json have this form, sign with --sign-mode amino-json");
}
