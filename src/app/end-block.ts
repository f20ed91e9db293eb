import type { ValidatorUpdate } from "../abci/index.ts";
import { type BlockUpdates, type Context, type Module, runBlockItem } from "../runtime/index.ts";

/**
 * Runs the end-block items, and returns what they change about the voters. If an item fails, its changes of the voters
 * are dropped with its other changes. Throws when two modules change the voters: they would have to know about each
 * other.
 */
export function endBlock(ctx: Context, modules: readonly Module[]): readonly ValidatorUpdate[] {
  const updates = modules.map((module) => updatesOf(ctx, module));
  const [validators = [], second] = updates.flatMap((each) => (each.validators === undefined ? [] : [each.validators]));
  if (second !== undefined) throw new Error("two modules change the voters in one block");
  return validators;
}

function updatesOf(ctx: Context, { name, endBlock: run }: Module): BlockUpdates {
  let updates: BlockUpdates = {};
  if (run !== undefined) {
    runBlockItem(ctx, `${name}/end_block`, (item) => {
      updates = run(item) ?? {};
    });
  }
  return updates;
}
