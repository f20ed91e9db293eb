import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { brokenInvariants, type Context, InvariantBreach, type Module } from "../runtime/index.ts";
import { append, defineErrors, errorText } from "../util/index.ts";
import { fromJson, type JsonObject, type JsonValue, toJson } from "../wire/index.ts";

export const genesisErrors = defineErrors("genesis", {
  invalid: [2, "invalid genesis state", "correct the entries named in the genesis file"],
});

/** The state of each module, read and checked. */
export type GenesisStates = ReadonlyMap<Module, MessageShape<DescMessage>>;

/** Everything that is wrong with an `app_state`, one sentence each. */
export function genesisProblems(modules: readonly Module[], appState: Readonly<Record<string, unknown>>): string[] {
  return readGenesis(modules, appState).problems;
}

/** Reads an `app_state`. Throws one error that names every problem. Modules without an entry get their defaults. */
export function parseGenesis(modules: readonly Module[], appState: Readonly<Record<string, unknown>>): GenesisStates {
  const { states, problems } = readGenesis(modules, appState);
  if (problems.length > 0) throw genesisErrors.invalid(problems.join("; "));
  return states;
}

function readGenesis(modules: readonly Module[], appState: Readonly<Record<string, unknown>>) {
  const states = new Map<Module, MessageShape<DescMessage>>();
  const problems = Object.keys(appState)
    .filter((name) => !modules.some((module) => module.name === name))
    .map((name) => `${name}: there is no such module`);
  for (const module of modules) {
    const found = readState(module, appState[module.name]);
    if (found.state !== undefined) states.set(module, found.state);
    append(
      problems,
      found.problems.map((problem) => `${module.name}: ${problem}`),
    );
  }
  return { states, problems };
}

function readState({ genesis }: Module, json: unknown): { state?: MessageShape<DescMessage>; problems: string[] } {
  try {
    // What fromJson gets is JSON by origin; it checks every value it reads.
    const state = json === undefined ? genesis.defaults() : fromJson(genesis.schema, json as JsonValue);
    return { state, problems: [...(genesis.validate?.(state) ?? [])] };
  } catch (error) {
    return { problems: [errorText(error)] };
  }
}

/** Imports the states in the order of the modules. Throws when an invariant across them does not hold. */
export function importGenesis(ctx: Context, states: GenesisStates): void {
  for (const [module, state] of states) {
    try {
      module.genesis.init(ctx, state);
    } catch (error) {
      throw genesisErrors.invalid(`${module.name}: ${errorText(error)}`, { cause: error });
    }
  }
  const broken = brokenInvariants([...states.keys()], ctx);
  if (broken.length > 0) throw new InvariantBreach(ctx.height, broken);
}

/** The `app_state` of the present state: importing it gives the same state again. */
export function exportModules(ctx: Context, modules: readonly Module[]): JsonObject {
  return Object.fromEntries(
    modules.map(({ name, genesis }) => [name, toJson(genesis.schema, genesis.export(ctx), { exact: true })]),
  );
}
