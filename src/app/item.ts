import { type BlockPhase, type Context, type Module, runBlockItem, runVitalItem } from "../runtime/index.ts";

const NAMES = { beginBlock: "begin_block", endBlock: "end_block" } as const;

/** Runs the item of a module at the begin or end of a block, if it has one, in its own sub-transaction. */
export function runItem(ctx: Context, module: Module, phase: BlockPhase, work: (ctx: Context) => void): void {
  if (module[phase] === undefined) return;
  const name = `${module.name}/${NAMES[phase]}`;
  if (module.vital?.includes(phase) === true) runVitalItem(ctx, name, work);
  else runBlockItem(ctx, name, work);
}
