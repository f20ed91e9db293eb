import { sdkErrors } from "../../util/index.ts";
import { type AminoSignable, aminoSignBytes, type SignerData } from "./amino.ts";
import { decodeTxParts } from "./strict.ts";
import { directSignBytes, SignMode } from "./tx.ts";

/** A transaction's signed parts, and the decoded values that amino JSON needs from them, if there are any. */
export interface SignableTx {
  readonly bodyBytes: Uint8Array;
  readonly authInfoBytes: Uint8Array;
  readonly decoded?: AminoSignable;
}

/** Sign bytes of the given mode. Throws `sdkErrors.unauthorized` for an unsupported mode. */
export function signBytes(mode: SignMode, tx: SignableTx, signer: SignerData): Uint8Array {
  if (mode === SignMode.DIRECT) return directSignBytes(tx, signer);
  if (mode !== SignMode.LEGACY_AMINO_JSON)
    throw sdkErrors.unauthorized(`unsupported sign mode ${SignMode[mode] ?? mode}`);
  return aminoSignBytes(tx.decoded ?? decodeTxParts(tx.bodyBytes, tx.authInfoBytes, { foreign: true }), signer);
}
