import type { Context } from "./context.ts";
import type { Module } from "./module.ts";

/** Runs every invariant of the modules and returns the sentences of the broken ones, `bank/supply: ...`. */
export function brokenInvariants(modules: readonly Module[], ctx: Context): string[] {
  return modules.flatMap((module) =>
    Object.entries(module.invariants ?? {}).flatMap(([name, holds]) => {
      const problem = holds(ctx);
      return problem === undefined ? [] : [`${module.name}/${name}: ${problem}`];
    }),
  );
}

/** A broken invariant: the state is wrong, whatever caused it. Nothing may continue with it. */
export class InvariantBreach extends Error {
  readonly sentences: readonly string[];

  constructor(height: bigint, sentences: readonly string[]) {
    super(`invariants broken at height ${height}:\n${sentences.join("\n")}`);
    this.name = "InvariantBreach";
    this.sentences = sentences;
  }
}
