import { ChainClient } from "../client/index.ts";
import { printable } from "../util/index.ts";
import type { NetworkProfile } from "./command/profile.ts";
import type { Io } from "./terminal/io.ts";

/** The chain of a command, as far as the command knows it. */
interface ChainAtHand {
  /** The node is asked where it is not given. */
  readonly chainId: string | undefined;
  readonly profile: NetworkProfile;
  readonly io: Pick<Io, "err">;
}

/** A chain as seen through the node at an address. What a node refuses for the moment is asked again. */
export function openChain(node: string, { chainId, profile, io }: ChainAtHand): ChainClient {
  const { namespace, aminoNames } = profile;
  const onRetry = (text: string): void => io.err(`${printable(text)}\n`);
  return new ChainClient(node, { namespace, aminoNames, onRetry, ...(chainId === undefined ? {} : { chainId }) });
}
