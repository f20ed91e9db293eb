import { toHex } from "../../util/index.ts";
import { verifyStoreProof } from "../../wire/index.ts";
import { clientErrors } from "../errors.ts";
import type { ChainClient } from "./chain.ts";

/** The key queried in a store, and the trusted app hash, from the header after the height. */
export interface ProofRequest {
  readonly store: string;
  readonly key: Uint8Array;
  readonly height: bigint;
  readonly appHash: Uint8Array;
}

/**
 * The bytes under a key of a store, or undefined if it is absent, proven by the node: an untrusted node cannot lie.
 * Rejects with `wire/2` if the proof does not hold, with `client/4` if the answer has no proof.
 */
export async function provenValue(chain: ChainClient, request: ProofRequest): Promise<Uint8Array | undefined> {
  const { store, key, height, appHash } = request;
  const answer = await chain.node.abciQuery(`/store/${store}/key`, key, { height, prove: true });
  if (answer.proofOps.length === 0) {
    throw clientErrors.badAnswer(
      `the node has no proof of ${toHex(key)} in store ${store}: ${answer.log || "no reason"}`,
    );
  }
  const value = answer.value.length === 0 ? undefined : answer.value;
  verifyStoreProof(answer.proofOps, { appHash, store, key, value });
  return value;
}
