import { ChainClient } from "../client/index.ts";
import type { NetworkProfile } from "./command/profile.ts";

/** A chain as seen through the node at an address; without `chainId` the node is asked for it. */
export function openChain(node: string, chainId: string | undefined, profile: NetworkProfile): ChainClient {
  const { namespace, aminoNames } = profile;
  return new ChainClient(node, { namespace, aminoNames, ...(chainId === undefined ? {} : { chainId }) });
}
