import { ChainClient } from "../client/index.ts";
import type { Namespace } from "../wire/index.ts";

/** A chain as the node at an address shows it; `chainId` is asked of the node when it is not given. */
export function openChain(node: string, chainId: string | undefined, namespace: Namespace): ChainClient {
  return new ChainClient(node, chainId === undefined ? { namespace } : { chainId, namespace });
}
