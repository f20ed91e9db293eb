import { toHex } from "../../util/index.ts";
import { verifyStoreProof } from "../../wire/index.ts";
import { clientErrors } from "../errors.ts";
import type { ChainClient } from "./chain.ts";

/** What is asked of a store, and the app hash that is trusted: that of the header behind the height. */
export interface ProofRequest {
  readonly store: string;
  readonly key: Uint8Array;
  readonly height: bigint;
  readonly appHash: Uint8Array;
}

/**
 * The bytes under a key of a store, undefined when there are none, as the node proves them: a node that is not trusted
 * cannot tell anything else. Rejects with `wire/2` when the proof does not hold, with `client/4` when there is none.
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
