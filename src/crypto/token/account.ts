import { toBase64, toUtf8 } from "../../util/index.ts";
import { verifySecp256k1 } from "../secp256k1/index.ts";
import { type Compact, isAccountAlgorithm } from "./compact.ts";

/** Verification is loaded when it is needed: pages that only sign tokens load no curve. */

/** Whether the account's key has signed it. Wallets sign no plain bytes, but a document around them. */
export function isSignedByAccount(
  { alg, input, signature }: Compact,
  { publicKey, issuer }: { readonly publicKey: Uint8Array; readonly issuer: string },
): boolean {
  if (!isAccountAlgorithm(alg)) return false;
  const bytes = toUtf8(input);
  const signed = alg === "ES256K" ? bytes : arbitraryDocument(bytes, issuer);
  return verifySecp256k1(publicKey, signed, signature);
}

/**
 * The document that wallets sign in place of arbitrary bytes (ADR-36 of the Cosmos SDK), in amino JSON: no chain takes it for a
 * transaction.
 */
export function arbitraryDocument(data: Uint8Array, signer: string): Uint8Array {
  const message = { type: "sign/MsgSignData", value: { data: toBase64(data), signer } };
  const fee = { amount: [], gas: "0" };
  return toUtf8(JSON.stringify({ account_number: "0", chain_id: "", fee, memo: "", msgs: [message], sequence: "0" }));
}
