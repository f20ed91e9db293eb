import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { ValidatorUpdate } from "../abci/index.ts";
import {
  brokenInvariants,
  type Context,
  type GenesisPart,
  type LongListWalk,
  type Module,
  type Restart,
} from "../runtime/index.ts";
import { append, defineErrors, errorText, SvcError } from "../util/index.ts";
import { fromJson, isArray, isObject, JsonList, type JsonObject, type JsonValue, toJson } from "../wire/index.ts";

export const genesisErrors = defineErrors("genesis", {
  invalid: [2, "invalid genesis state", "correct the entries named in the genesis file"],
});

/** A transaction of a genesis file without which the chain would begin. */
export class RefusedGenesisTx extends SvcError {
  /** Its place among the transactions, from 0 on. */
  readonly index: number;

  constructor(index: number, detail: string) {
    const { codespace, code, message, hint } = genesisErrors.invalid(detail);
    super(codespace, code, message, hint === undefined ? {} : { hint });
    this.index = index;
  }
}

/** The parts of a genesis file that modules begin with, by their names. */
type AppState = Readonly<Record<string, unknown>>;

/** Everything that is wrong with an `app_state`, one sentence each. */
export function genesisProblems(modules: readonly Module[], appState: AppState): string[] {
  const problems = unknownModules(modules, appState);
  for (const module of modules) append(problems, moduleProblems(module, appState));
  return problems;
}

function moduleProblems(module: Module, appState: AppState): string[] {
  const { state, problems } = readChecked(module, appState);
  const found =
    state === undefined ? problems : [...problems, ...walkList(module, state, { isRight: problems.length === 0 })];
  return found.map((problem) => `${module.name}: ${problem}`);
}

function unknownModules(modules: readonly Module[], appState: AppState): string[] {
  return Object.keys(appState)
    .filter((name) => !modules.some((module) => module.name === name))
    .map((name) => `${name}: there is no such module`);
}

interface ModuleState {
  readonly message: MessageShape<DescMessage>;
  /** The items of its long list. */
  readonly items: Iterable<JsonValue>;
}

/** The state of a module, and its faults except those of its long list. */
function readChecked(
  module: Module,
  appState: AppState,
): { readonly state?: ModuleState; readonly problems: readonly string[] } {
  try {
    const state = readState(module, appState);
    return { state, problems: module.genesis.validate?.(state.message) ?? [] };
  } catch (error) {
    return { problems: [errorText(error)] };
  }
}

/** A module without an entry gets its defaults, and so does a parameter that the file of an earlier version did not have. */
function readState({ name, genesis }: Module, appState: AppState): ModuleState {
  // The value comes from JSON, and fromJson checks every value that it reads.
  const json = appState[name] as JsonValue | undefined;
  if (json === undefined) return { message: genesis.defaults(), items: [] };
  const { rest, items } = withoutList(json, genesis.long?.field);
  return { message: fromJson(genesis.schema, withParams(genesis, rest)), items };
}

function withParams({ schema, defaults }: GenesisPart, state: JsonValue): JsonValue {
  const message = schema.fields.find(({ name }) => name === "params")?.message;
  const whole = toJson(schema, defaults(), { exact: true });
  if (message === undefined || !isObject(whole) || !isObject(state) || !isObject(state.params)) return state;
  return { ...state, params: completed(message, state.params, whole.params ?? null) };
}

/** The value with the fields of another one that it lacks; a list is whole where it is given. */
function completed(schema: DescMessage, given: JsonObject, from: JsonValue): JsonObject {
  if (!isObject(from)) return given;
  const whole = { ...given };
  for (const { name, jsonName, message } of schema.fields) {
    const value = from[name];
    const own = given[name];
    if (value === undefined || (jsonName !== name && given[jsonName] !== undefined)) continue;
    if (own === undefined) whole[name] = value;
    else if (message !== undefined && isObject(own)) whole[name] = completed(message, own, value);
  }
  return whole;
}

interface SplitState {
  readonly rest: JsonValue;
  readonly items: Iterable<JsonValue>;
}

function withoutList(json: JsonValue, field: string | undefined): SplitState {
  if (field === undefined || !isObject(json)) return { rest: json, items: [] };
  const { [field]: list, ...rest } = json;
  return list instanceof JsonList || isArray(list) ? { rest, items: list } : { rest: json, items: [] };
}

interface ListWalk {
  /** Where the list is imported to; without it, it is only checked. */
  readonly ctx?: Context | undefined;
  /** Whether nothing was wrong with the rest of the state. */
  readonly isRight: boolean;
}

/** Imports or checks the long list of a module. Returns its faults. */
function walkList({ genesis }: Module, { message, items }: ModuleState, { ctx, isRight }: ListWalk): string[] {
  const walk = genesis.long?.begin(message, ctx);
  if (walk === undefined) return [];
  const problems: string[] = [];
  let index = 0;
  try {
    for (const item of items) {
      append(problems, takeItem(walk, item, index));
      index += 1;
    }
    append(problems, walk.end(isRight && problems.length === 0));
    return problems;
  } catch (error) {
    return [...problems, errorText(error)];
  }
}

function takeItem(walk: LongListWalk, item: JsonValue, index: number): readonly string[] {
  try {
    return walk.take(item, index);
  } catch (error) {
    return [errorText(error)];
  }
}

/** Runs a transaction of genesis; the result has its error. */
type RunTx = (tx: Uint8Array) => { readonly code: number; readonly log: string | undefined };

/**
 * Imports an `app_state` in the order of the modules, runs its transactions, and returns the voters of the first block.
 * Each state is read once, checked and imported, so that a million accounts are in memory for only one module at a
 * time; after the first fault the others are only checked. Throws one error that names every problem, including states
 * that do not fit each other.
 */
export function importGenesis(
  ctx: Context,
  { modules, appState, run }: { readonly modules: readonly Module[]; readonly appState: AppState; readonly run: RunTx },
): ValidatorUpdate[] {
  importStates(ctx, modules, appState);
  checkStates(ctx, modules);
  for (const module of modules) {
    module.genesis.txs?.(readState(module, appState).message).forEach((tx, i) => {
      const { code, log } = run(tx);
      if (code !== 0) throw new RefusedGenesisTx(i, `${module.name}: transaction ${i}: ${log}`);
    });
  }
  const voters = modules.flatMap((module) => module.genesisVoters?.(ctx) ?? []);
  const broken = brokenInvariants(modules, ctx);
  if (broken.length > 0) throw genesisErrors.invalid(broken.join("; "));
  return voters;
}

function importStates(ctx: Context, modules: readonly Module[], appState: AppState): void {
  const problems = unknownModules(modules, appState);
  let failed: Error | undefined;
  for (const module of modules) {
    if (problems.length > 0 || failed !== undefined) append(problems, moduleProblems(module, appState));
    else failed = importState(ctx, module, { appState, problems });
  }
  if (problems.length > 0) throw genesisErrors.invalid(problems.join("; "));
  if (failed !== undefined) throw failed;
}

/** Imports the state of a module and adds its faults to `problems`; returns the error if it cannot be imported. */
function importState(
  ctx: Context,
  module: Module,
  { appState, problems }: { readonly appState: AppState; readonly problems: string[] },
): Error | undefined {
  const { state, problems: found } = readChecked(module, appState);
  const isRight = state !== undefined && found.length === 0;
  const failed = isRight ? beginImport(ctx, module, state) : undefined;
  const target = isRight && failed === undefined ? ctx : undefined;
  const inList = state === undefined ? [] : walkList(module, state, { ctx: target, isRight });
  for (const problem of [found, inList].flat()) problems.push(`${module.name}: ${problem}`);
  return failed;
}

function beginImport(ctx: Context, module: Module, { message }: ModuleState): Error | undefined {
  try {
    module.genesis.init(ctx, message);
    return undefined;
  } catch (error) {
    return importFailure(module, error);
  }
}

/** A module's message about a state that it cannot begin with; the common ending of all such errors appears once. */
function importFailure({ name }: Module, error: unknown): Error {
  const [text, ending] = [errorText(error), `: ${genesisErrors.invalid.description}`];
  const detail = text.endsWith(ending) ? text.slice(0, -ending.length) : text;
  return genesisErrors.invalid(`${name}: ${detail}`, { cause: error });
}

/** Asks the modules what does not fit in their states together. */
function checkStates(ctx: Context, modules: readonly Module[]): void {
  const problems = modules.flatMap(({ name, genesis }) => {
    const problem = genesis.check?.(ctx);
    return problem === undefined ? [] : [`${name}: ${problem}`];
  });
  if (problems.length > 0) throw genesisErrors.invalid(problems.join("; "));
}

/**
 * The `app_state` for another chain that begins at its first block with this state. Changes the stores of the context, which
 * are a copy.
 */
export function exportRestart(ctx: Context, modules: readonly Module[], restart: Restart): JsonObject {
  for (const { genesis } of modules) genesis.restart?.prepare?.(ctx, restart);
  return Object.fromEntries(
    modules.map(({ name, genesis }) => {
      const state = genesis.export(ctx);
      const moved = genesis.restart?.move?.(state, ctx.height) ?? state;
      return [name, toJson(genesis.schema, moved, { exact: true })];
    }),
  );
}

/** The `app_state` of the present state: importing it gives the same state again. */
export function exportModules(ctx: Context, modules: readonly Module[]): JsonObject {
  return Object.fromEntries(
    modules.map(({ name, genesis }) => [name, toJson(genesis.schema, genesis.export(ctx), { exact: true })]),
  );
}
