import { Service, type SimulateResponse } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { type ModeInfo, TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeMessage, encodeMultiSignature, multiMode, type PublicKey, type SignMode } from "../../wire/index.ts";
import type { ChainClient } from "../chain/chain.ts";
import { clientErrors } from "../errors.ts";

/** Bytes of a single key's signature. */
export const SIGNATURE_LENGTH = 64;

/** The placeholder in a simulation for a signature not made yet. */
export interface SignaturePlace {
  readonly mode: SignMode | ModeInfo;
  readonly signature: Uint8Array;
}

/**
 * A placeholder with the form and size of the real signature, both of which cost gas: a multisig's has as many shares
 * as the threshold. An unknown key counts as a single key.
 */
export function signaturePlace(publicKey: PublicKey | undefined, mode: SignMode): SignaturePlace {
  const one = new Uint8Array(SIGNATURE_LENGTH);
  if (publicKey?.type !== "multisig") return { mode, signature: one };
  const signed = publicKey.keys.map((_, i) => i < publicKey.threshold);
  return { mode: multiMode(signed), signature: encodeMultiSignature(signed.filter(Boolean).map(() => one)) };
}

/** The chain's simulation of a transaction; its signatures are not verified. */
export function simulateTx(chain: ChainClient, txBytes: Uint8Array): Promise<SimulateResponse> {
  // Chains before release 0.43 read only the first field; later ones prefer the bytes.
  const tx = decodeMessage(TxSchema, txBytes, clientErrors.badAnswer);
  return chain.query.call(Service.method.simulate, { tx, txBytes });
}
