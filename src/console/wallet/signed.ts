import type { PreparedTx } from "../../client/index.ts";
import { verifySecp256k1 } from "../../crypto/index.ts";
import { equalBytes } from "../../util/index.ts";
import { AuthInfoSchema, TxBodySchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  decodeMessage,
  directSignBytes,
  encodeAuthInfo,
  encodeMessage,
  encodeTx,
  type FeeInit,
  publicKeyToAny,
  type SinglePublicKey,
} from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";

/** The two signed parts of a transaction. */
export interface TxParts {
  readonly bodyBytes: Uint8Array;
  readonly authInfoBytes: Uint8Array;
}

/** The parts as a wallet is asked to sign them. */
export function askedParts(tx: PreparedTx, publicKey: SinglePublicKey, fee: FeeInit = tx.fee): TxParts {
  const key = publicKeyToAny(publicKey, tx.namespace);
  const signer = { publicKey: key, mode: tx.signMode, sequence: tx.signer.sequence };
  return { bodyBytes: tx.bodyBytes, authInfoBytes: encodeAuthInfo(fee, [signer]) };
}

/** A signature with the key that made it. */
export interface GivenSignature {
  readonly key: Uint8Array;
  readonly signature: Uint8Array;
}

/**
 * The transaction that a wallet has signed in mode direct. Wallets let their owners change fee and memo, so the parts are those
 * of the answer. Throws if anything else was changed, or if the account's key did not sign it for this chain.
 */
export function directTx(
  tx: PreparedTx,
  publicKey: SinglePublicKey,
  answer: { readonly parts: TxParts; readonly given: GivenSignature },
): Uint8Array {
  const { parts, given } = answer;
  const asked = askedParts(tx, publicKey);
  if (!isSameBut(asked, parts)) throw walletErrors.signedOther("more than fee and memo differs");
  checkSignature(publicKey, given, directSignBytes(parts, tx.signer));
  return encodeTx(parts, [given.signature]);
}

/** The form of amino JSON that wallets answer: fee and memo may differ from what they were asked to sign. */
export interface SignedChoices {
  readonly memo: string;
  readonly fee: FeeInit;
}

/**
 * The transaction of an amino JSON signature with the fee and memo that the wallet has signed. The text is built anew from it, so that
 * a signature of any other text is refused.
 */
export async function aminoTx(
  tx: PreparedTx,
  publicKey: SinglePublicKey,
  { choices, given }: { readonly choices: SignedChoices; readonly given: GivenSignature },
): Promise<Uint8Array> {
  const body = decodeMessage(TxBodySchema, tx.bodyBytes);
  const bodyBytes = encodeMessage(TxBodySchema, { ...body, memo: choices.memo });
  const parts = { ...askedParts(tx, publicKey, choices.fee), bodyBytes };
  const { aminoText } = await import("./amino.ts");
  checkSignature(publicKey, given, aminoText(parts, tx.signer));
  return encodeTx(parts, [given.signature]);
}

function checkSignature(publicKey: SinglePublicKey, { key, signature }: GivenSignature, signed: Uint8Array): void {
  if (!equalBytes(key, publicKey.key)) throw walletErrors.switched();
  if (!verifySecp256k1(key, signed, signature)) throw walletErrors.signedOther("the signature is of another text");
}

/** Whether two transactions differ in fee and memo alone. The given one must have no bytes besides, such as fields that this version does not know. */
function isSameBut(asked: TxParts, given: TxParts): boolean {
  const body = decodeMessage(TxBodySchema, asked.bodyBytes);
  const { memo } = decodeMessage(TxBodySchema, given.bodyBytes, walletErrors.badAnswer);
  const info = decodeMessage(AuthInfoSchema, asked.authInfoBytes);
  const { fee } = decodeMessage(AuthInfoSchema, given.authInfoBytes, walletErrors.badAnswer);
  if (fee === undefined) return false;
  return (
    equalBytes(given.bodyBytes, encodeMessage(TxBodySchema, { ...body, memo })) &&
    equalBytes(given.authInfoBytes, encodeMessage(AuthInfoSchema, { ...info, fee }))
  );
}
