import type { Context } from "./context.ts";
import { BlockItemFailure, failureOf, isFatal } from "./failure.ts";

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
