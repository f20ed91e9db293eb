import { type ChainClient, clientErrors } from "../../../client/index.ts";
import type { CliContext } from "../../context.ts";

// Loaded separately, because a signature without a node does not need it.
export { accountInfo } from "../../../client/index.ts";

/** A chain id given by the user must be the node's: signatures for another chain are invalid here. */
export async function checkChain(context: CliContext, chain: ChainClient): Promise<void> {
  const given = context.flags.optional("chain-id");
  if (given === undefined) return;
  const { chainId } = await chain.node.status();
  if (chainId !== given)
    throw clientErrors.wrongChain(`the node serves ${chainId}, ${context.flags.label("chain-id")} says ${given}`);
}
