import type { ConsensusUpdates } from "../abci/index.ts";
import { type BlockUpdates, type Context, type Module, runBlockItem } from "../runtime/index.ts";

/**
 * Runs the end-block items. What an item changes about consensus is forgotten with its other changes when it fails. Throws
 * when two modules change the same: they would have to know of each other.
 */
export function endBlock(ctx: Context, modules: readonly Module[]): ConsensusUpdates {
  const updates = modules.map((module) => updatesOf(ctx, module));
  const validators = single(updates.flatMap((each) => (each.validators === undefined ? [] : [each.validators])));
  const params = updates.flatMap((each) => (each.consensusParams === undefined ? [] : [each.consensusParams]));
  return { validatorUpdates: validators ?? [], consensusParamUpdates: single(params) };
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

function single<T>(values: readonly T[]): T | undefined {
  if (values.length > 1) throw new Error("two modules change the voters or the parameters of consensus in one block");
  return values[0];
}
