import { ChainClient } from "../client/index.ts";

/** A chain as the node at an address shows it; `chainId` is asked of the node when it is not given. */
export function openChain(node: string, chainId: string | undefined): ChainClient {
  return new ChainClient(node, chainId === undefined ? {} : { chainId });
}
