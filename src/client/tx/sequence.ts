import { SvcError, sdkErrors } from "../../util/index.ts";
import { accountInfo } from "../chain/account.ts";
import type { ChainClient } from "../chain/chain.ts";

/** How often a transaction is made at most, when others of its account come in between. */
export const MAX_SEQUENCE_TRIES = 5;

/** What a node says of a transaction that it does not take. */
export interface SequenceRefusal {
  readonly codespace: string;
  readonly code: number;
  readonly text: string;
}

/** The refusal in an error of a simulation. */
export function refusalOf(error: unknown): SequenceRefusal | undefined {
  if (!(error instanceof SvcError)) return undefined;
  return { codespace: error.codespace, code: error.code, text: error.message };
}

/**
 * The sequence to use instead of an old one; undefined where the refusal has another cause. The node knows of transactions
 * that wait for a block and names the number; one that does not is asked for the account again.
 */
export async function newerSequence(
  chain: ChainClient,
  address: string,
  { refusal, used }: { readonly refusal: SequenceRefusal | undefined; readonly used: bigint },
): Promise<bigint | undefined> {
  if (refusal === undefined || !isWrongSequence(refusal)) return undefined;
  const [, named] = /\bexpected (\d{1,20})\b/.exec(refusal.text) ?? [];
  const next = named === undefined ? (await accountInfo(chain.query, address)).sequence : BigInt(named);
  return next > used ? next : undefined;
}

/** Newer chains give errors of a simulation one number for all, and keep the words. */
function isWrongSequence({ codespace, code, text }: SequenceRefusal): boolean {
  if (codespace !== "sdk") return false;
  return code === sdkErrors.wrongSequence.code || text.includes("account sequence mismatch");
}
