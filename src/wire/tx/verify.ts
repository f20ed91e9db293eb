import { verifySecp256k1 } from "../../crypto/index.ts";
import { equalBytes, sdkErrors } from "../../util/index.ts";
import type { ModeInfo } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { memberSignatures, type PublicKey } from "../keys/index.ts";
import type { SignerData } from "./amino.ts";
import { type SignableTx, SignMode, signBytes } from "./tx.ts";

/** A signer's signature in the form of its mode, and what it binds besides the transaction. */
export interface SignatureOf {
  readonly modeInfo: ModeInfo | undefined;
  readonly signature: Uint8Array;
  readonly signer: SignerData;
}

/**
 * Whether a key gave a signature of a transaction; for a multisig key, whether enough members did and all their
 * signatures are valid. Throws `sdkErrors.unauthorized` if form and key do not fit.
 */
export function verifySignature(tx: SignableTx, key: PublicKey, signed: SignatureOf): boolean {
  const { modeInfo, signature, signer } = signed;
  const verify = (publicKey: Uint8Array, mode: SignMode, bytes: Uint8Array): boolean => {
    const signed = signBytes(mode, tx, signer);
    if (verifySecp256k1(publicKey, signed, bytes)) return true;
    if (mode !== SignMode.LEGACY_AMINO_JSON) return false;
    // Libraries of the ecosystem still use names of messages that the reference has given up.
    const aminoNames = signer.aminoNames === "older" ? "current" : "older";
    const other = signBytes(mode, tx, { ...signer, aminoNames });
    return !equalBytes(signed, other) && verifySecp256k1(publicKey, other, bytes);
  };
  if (key.type !== "multisig") {
    if (modeInfo?.sum.case !== "single") throw sdkErrors.unauthorized("a single signature is needed here");
    return verify(key.key, modeInfo.sum.value.mode, signature);
  }
  if (modeInfo?.sum.case !== "multi") throw sdkErrors.unauthorized("a multisignature is needed here");
  const members = memberSignatures(key, modeInfo.sum.value, signature);
  return members.every((member) => verify(member.publicKey.key, member.mode, member.signature));
}
