import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { ValidatorUpdate } from "../abci/index.ts";
import { brokenInvariants, type Context, InvariantBreach, type Module } from "../runtime/index.ts";
import { append, defineErrors, errorText } from "../util/index.ts";
import { fromJson, type JsonObject, type JsonValue, toJson } from "../wire/index.ts";

export const genesisErrors = defineErrors("genesis", {
  invalid: [2, "invalid genesis state", "correct the entries named in the genesis file"],
});

/** The parts of a genesis file that modules begin with, by their names. */
type AppState = Readonly<Record<string, unknown>>;

/** Everything that is wrong with an `app_state`, one sentence each. */
export function genesisProblems(modules: readonly Module[], appState: AppState): string[] {
  const problems = Object.keys(appState)
    .filter((name) => !modules.some((module) => module.name === name))
    .map((name) => `${name}: there is no such module`);
  for (const module of modules) {
    append(
      problems,
      moduleProblems(module, appState).map((problem) => `${module.name}: ${problem}`),
    );
  }
  return problems;
}

function moduleProblems(module: Module, appState: AppState): readonly string[] {
  try {
    return module.genesis.validate?.(readState(module, appState)) ?? [];
  } catch (error) {
    return [errorText(error)];
  }
}

/** A module without an entry gets its defaults. */
function readState({ name, genesis }: Module, appState: AppState): MessageShape<DescMessage> {
  const json = appState[name];
  // What fromJson gets is JSON by origin; it checks every value it reads.
  return json === undefined ? genesis.defaults() : fromJson(genesis.schema, json as JsonValue);
}

/** Runs a transaction of genesis; what went wrong is in its result. */
type RunTx = (tx: Uint8Array) => { readonly code: number; readonly log: string };

/**
 * Imports an `app_state` in the order of the modules, runs the transactions that it brings, and returns the voters of the
 * first block. The states are read once to be checked and once more to be taken: a
 * million accounts then stand in memory for one module at a time. Throws one error that names every problem, and when an
 * invariant across modules does not hold.
 */
export function importGenesis(
  ctx: Context,
  { modules, appState, run }: { readonly modules: readonly Module[]; readonly appState: AppState; readonly run: RunTx },
): ValidatorUpdate[] {
  const problems = genesisProblems(modules, appState);
  if (problems.length > 0) throw genesisErrors.invalid(problems.join("; "));
  for (const module of modules) {
    try {
      module.genesis.init(ctx, readState(module, appState));
    } catch (error) {
      throw genesisErrors.invalid(`${module.name}: ${errorText(error)}`, { cause: error });
    }
  }
  for (const module of modules) {
    module.genesis.txs?.(readState(module, appState)).forEach((tx, i) => {
      const { code, log } = run(tx);
      if (code !== 0) throw genesisErrors.invalid(`${module.name}: transaction ${i}: ${log}`);
    });
  }
  const voters = modules.flatMap((module) => module.genesisVoters?.(ctx) ?? []);
  const broken = brokenInvariants(modules, ctx);
  if (broken.length > 0) throw new InvariantBreach(ctx.height, broken);
  return voters;
}

/** The `app_state` of the present state: importing it gives the same state again. */
export function exportModules(ctx: Context, modules: readonly Module[]): JsonObject {
  return Object.fromEntries(
    modules.map(({ name, genesis }) => [name, toJson(genesis.schema, genesis.export(ctx), { exact: true })]),
  );
}
