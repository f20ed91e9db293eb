import type { Context } from "./context.ts";
import { failureOf } from "./failure.ts";

/**
 * Runs one begin- or end-block item in its own sub-transaction. An error drops the item's changes, is reported as an
 * event and to the operator, and goes no further: an error in one item must never stop the chain. Returns whether the
 * item was done.
 */
export function runBlockItem(ctx: Context, name: string, work: (ctx: Context) => void): boolean {
  try {
    ctx.attempt(work);
    return true;
  } catch (error) {
    const { codespace, code, log } = failureOf(error);
    ctx.events.emit("block_item_failed", { item: name, codespace, code: code.toString(), reason: log });
    ctx.report({ item: name, height: ctx.height, error });
    return false;
  }
}
