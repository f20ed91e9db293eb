import { DatabaseFault } from "../store/index.ts";
import { errorText, PANIC_ERROR, SvcError } from "../util/index.ts";
import type { Context } from "./context.ts";

/** A failure as it enters results: the same on every node. */
export interface Failure {
  readonly codespace: string;
  readonly code: number;
  readonly log: string;
}

/**
 * The text of a programming error that the network sees; the actual text may differ between machines and stays local.
 */
const PANIC_TEXT = "internal error while executing, see the log of the node: panic";

/** Whether everything must stop after an error, because it concerns this machine and not others. */
export function isFatal(error: unknown): boolean {
  return error instanceof DatabaseFault || error instanceof BlockItemFailure;
}

/** An item of a block failed that has to succeed: nothing of the block may be kept. */
export class BlockItemFailure extends Error {
  constructor(item: string, height: bigint, cause: unknown) {
    const text = `${item} of block ${height} failed, and no block is made without it: ${errorText(cause)}`;
    super(`${text}; start a version of svc in which this is fixed`, { cause });
    this.name = "BlockItemFailure";
  }
}

/** Turns anything thrown into a result. Only the product's own errors show their text. */
export function failureOf(error: unknown): Failure {
  if (error instanceof SvcError) return { codespace: error.codespace, code: error.code, log: error.message };
  return { ...PANIC_ERROR, log: PANIC_TEXT };
}

/** Whether a thrown value is a programming error that the operator should see. */
export function isPanic(error: unknown): boolean {
  return !(error instanceof SvcError);
}

/** The node gives up a query or a simulation: neither a fault nor a refusal, so it never becomes a result by itself. */
export class GivenUp extends Error {}

/**
 * Runs one begin- or end-block item in its own sub-transaction. An error drops the item's changes and is reported as an
 * event and to the operator; it must never stop the chain. Only a database that cannot be read, or the failure of a
 * vital inner item, stops it. Returns whether the item was done.
 */
export function runBlockItem(ctx: Context, name: string, work: (ctx: Context) => void): boolean {
  try {
    ctx.attempt(work);
    return true;
  } catch (error) {
    if (isFatal(error)) throw error;
    const { codespace, code, log } = failureOf(error);
    ctx.events.emit("block_item_failed", { item: name, codespace, code: code.toString(), reason: log });
    ctx.report({ item: name, height: ctx.height, error });
    return false;
  }
}

/**
 * Runs one item without which consensus and state would part: who votes, and who is punished for a double vote, which is
 * reported only once. Throws `BlockItemFailure` if it fails.
 */
export function runVitalItem(ctx: Context, name: string, work: (ctx: Context) => void): void {
  try {
    ctx.attempt(work);
  } catch (error) {
    throw isFatal(error) ? error : new BlockItemFailure(name, ctx.height, error);
  }
}
