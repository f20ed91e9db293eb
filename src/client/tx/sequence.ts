import { SvcError, sdkErrors } from "../../util/index.ts";
import { accountInfo } from "../chain/account.ts";
import type { ChainClient } from "../chain/chain.ts";

/** Maximum attempts to make a transaction when others of its account come in between. */
export const MAX_SEQUENCE_TRIES = 5;

/** A node's answer about a transaction with a wrong sequence. */
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
 * The sequence to use instead of an old one; undefined if the refusal has another cause. A node that knows of pending
 * transactions names the number; otherwise the account is queried again.
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

/** Newer chains use one code for all errors of a simulation, and keep the text. */
function isWrongSequence({ codespace, code, text }: SequenceRefusal): boolean {
  if (codespace !== "sdk") return false;
  return code === sdkErrors.wrongSequence.code || text.includes("account sequence mismatch");
}
