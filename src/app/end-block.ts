import type { ValidatorUpdate } from "../abci/index.ts";
import type { BlockUpdates, Context, Module } from "../runtime/index.ts";
import { runItem } from "./item.ts";

/**
 * Runs the end-block items, and returns what they change about the voters. If an item fails that may, its changes of the
 * voters are dropped with its other changes. Throws when two modules change the voters: they would have to know about each
 * other.
 */
export function endBlock(ctx: Context, modules: readonly Module[]): readonly ValidatorUpdate[] {
  const updates = modules.map((module) => updatesOf(ctx, module));
  const [validators = [], second] = updates.flatMap((each) => (each.validators === undefined ? [] : [each.validators]));
  if (second !== undefined) throw new Error("two modules change the voters in one block");
  return validators;
}

function updatesOf(ctx: Context, module: Module): BlockUpdates {
  let updates: BlockUpdates = {};
  runItem(ctx, module, "endBlock", (item) => {
    updates = module.endBlock?.(item) ?? {};
  });
  return updates;
}
