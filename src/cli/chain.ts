import { ChainClient } from "../client/index.ts";
import type { NetworkProfile } from "./command/profile.ts";

/** A chain as the node at an address shows it; `chainId` is asked of the node when it is not given. */
export function openChain(node: string, chainId: string | undefined, profile: NetworkProfile): ChainClient {
  const { namespace, aminoNames } = profile;
  return new ChainClient(node, { namespace, aminoNames, ...(chainId === undefined ? {} : { chainId }) });
}
