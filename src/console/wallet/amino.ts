import { fromUtf8 } from "../../util/index.ts";
import { aminoSignBytes, decodeTxParts, type SignableTx, type SignerData } from "../../wire/index.ts";

/** Amino JSON names messages by their descriptors: this module brings every descriptor. */

/** The text in amino JSON that a signature of a transaction covers. */
export function aminoText({ bodyBytes, authInfoBytes }: SignableTx, signer: SignerData): Uint8Array {
  return aminoSignBytes(decodeTxParts(bodyBytes, authInfoBytes, { foreign: true }), signer);
}

/** The same as the object that wallets take. */
export function aminoDocument(parts: SignableTx, signer: SignerData): unknown {
  return JSON.parse(fromUtf8(aminoText(parts, signer)));
}
