import type { ValidatorUpdate } from "../abci/index.ts";
import {
  type BlockPhase,
  type BlockUpdates,
  type Context,
  type Module,
  runBlockItem,
  runVitalItem,
} from "../runtime/index.ts";

const NAMES = { beginBlock: "begin_block", endBlock: "end_block" } as const;

/** Runs the begin-block items. */
export function beginBlock(ctx: Context, modules: readonly Module[]): void {
  for (const module of modules) runItem(ctx, module, "beginBlock", (item) => module.beginBlock?.(item));
}

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

/** Runs the item of a module at the begin or end of a block, if it has one, in its own sub-transaction. */
function runItem(ctx: Context, module: Module, phase: BlockPhase, work: (ctx: Context) => void): void {
  if (module[phase] === undefined) return;
  const name = `${module.name}/${NAMES[phase]}`;
  if (module.vital?.includes(phase) === true) runVitalItem(ctx, name, work);
  else runBlockItem(ctx, name, work);
}
