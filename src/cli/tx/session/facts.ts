import { type AccountInfo, accountInfo, type ChainClient, clientErrors } from "../../../client/index.ts";
import { errorText, SvcError, sdkErrors } from "../../../util/index.ts";
import type { PublicKey, SignerData } from "../../../wire/index.ts";
import type { CliContext } from "../../context/context.ts";
import { commandError } from "../../errors.ts";
import type { TxSettings } from "./settings.ts";

/** Data that a signature covers besides the transaction, and the account's key if a node was asked for it. */
export interface SignerNumbers extends SignerData {
  readonly publicKey?: PublicKey;
}

/**
 * Account number and sequence of an account: from the flags, otherwise from the chain. With both, and the chain id, no
 * node is needed.
 */
export async function signerNumbers(
  context: CliContext,
  { accountNumber, sequence }: Pick<TxSettings, "accountNumber" | "sequence">,
  address: string,
): Promise<SignerNumbers> {
  const { aminoNames } = context.profile;
  if (accountNumber !== undefined && sequence !== undefined) {
    return { chainId: await context.chainId(), accountNumber, sequence, aminoNames };
  }
  const chain = await context.chain();
  const chainId = await servedChain(context, chain);
  const info = await requireAccount(chain, address);
  return {
    chainId,
    accountNumber: accountNumber ?? info.accountNumber,
    sequence: sequence ?? info.sequence,
    aminoNames,
    ...(info.publicKey === undefined ? {} : { publicKey: info.publicKey }),
  };
}

/** The node's chain. A chain id given by the user must be the same: signatures for another chain are invalid here. */
export async function servedChain({ flags }: CliContext, { node }: ChainClient): Promise<string> {
  const { chainId } = await node.status();
  const given = flags.optional("chain-id");
  if (given === undefined || given === chainId) return chainId;
  throw clientErrors.wrongChain(`the node serves ${chainId}, ${flags.label("chain-id")} says ${given}`);
}

/** The account that signs. */
export async function requireAccount({ query }: ChainClient, address: string): Promise<AccountInfo> {
  return accountInfo(query, address).catch((error: unknown) => {
    throw accountFault(error, address);
  });
}

/** The chain's answer for an unknown account, with the remedy. */
export function accountFault(error: unknown, address: string): unknown {
  if (!(error instanceof SvcError)) return commandError(errorText(error), { cause: error });
  if (error.codespace !== "sdk" || error.code !== sdkErrors.keyNotFound.code) return error;
  return new SvcError(error.codespace, error.code, error.message, {
    hint: `the chain has no account ${address} until it receives coins: send some to it first`,
    cause: error,
  });
}
