import { Service, type SimulateResponse } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { type ModeInfo, TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeMessage, encodeMultiSignature, multiMode, type PublicKey, type SignMode } from "../../wire/index.ts";
import type { ChainClient } from "../chain/chain.ts";
import { clientErrors } from "../errors.ts";

/** Bytes of a signature that one key makes. */
export const SIGNATURE_LENGTH = 64;

/** What stands in a simulation for a signature that is not made yet. */
export interface SignaturePlace {
  readonly mode: SignMode | ModeInfo;
  readonly signature: Uint8Array;
}

/**
 * A place of the form and the size of the real signature, both of which cost gas: of a multisig it holds those of as many
 * members as have to sign. Where the key is not known it is that of a single one.
 */
export function signaturePlace(publicKey: PublicKey | undefined, mode: SignMode): SignaturePlace {
  const one = new Uint8Array(SIGNATURE_LENGTH);
  if (publicKey?.type !== "multisig") return { mode, signature: one };
  const signed = publicKey.keys.map((_, i) => i < publicKey.threshold);
  return { mode: multiMode(signed), signature: encodeMultiSignature(signed.filter(Boolean).map(() => one)) };
}

/** What the chain says of a transaction without taking it; its signatures are not verified. */
export function simulateTx(chain: ChainClient, txBytes: Uint8Array): Promise<SimulateResponse> {
  // Chains of releases before 0.43 read the first field alone; later ones take the bytes where both are there.
  const tx = decodeMessage(TxSchema, txBytes, clientErrors.badAnswer);
  return chain.query.call(Service.method.simulate, { tx, txBytes });
}
