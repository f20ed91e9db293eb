import { Command, CommanderError, Option } from "commander";
import { EXIT, SvcError } from "../util/index.ts";
import { reportError, UsageError } from "./errors.ts";
import { type Environment, type Flags, resolveFlags } from "./flags.ts";
import { GLOBAL_FLAGS, GLOBAL_HEADING } from "./global-flags.ts";
import { createIo, type Io } from "./io.ts";
import { type Resolved, resolveCommand } from "./normalize.ts";
import { ROOT } from "./root.ts";
import type { CommandSpec, FlagSpec } from "./spec.ts";
import { nearest } from "./suggest.ts";

const COMMANDER_DONE = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);
/** The same help on every terminal and in every file. */
const HELP_WIDTH = 110;
const FLAGS_HEADING = "Flags:";

export interface ProgramOptions {
  readonly io?: Io;
  readonly env?: Environment;
}

/** Where a command line runs. */
interface World {
  readonly io: Io;
  readonly env: Environment;
}

/** Runs one command line and returns the exit code of the process. */
export async function runProgram(argv: readonly string[], options: ProgramOptions = {}): Promise<number> {
  const { io = createIo(), env = process.env } = options;
  try {
    return await runCommand(await resolveCommand(ROOT, argv), { io, env });
  } catch (error) {
    return reportError(await withRemedy(error), {
      trace: argv.includes("--trace"),
      err: (text) => io.err(`${text}\n`),
    });
  }
}

/** Codespaces of errors that the chain tells without the remedy. */
const CHAIN_ERRORS = new Set(["sdk", "audit", "bank", "cert", "deployment", "escrow", "market", "provider"]);

async function withRemedy(error: unknown): Promise<unknown> {
  if (!(error instanceof SvcError) || error.hint !== undefined || !CHAIN_ERRORS.has(error.codespace)) return error;
  const { codespace, code, message } = error;
  const hint = (await import("./remedies.ts")).remedyOf(codespace, code);
  if (hint === undefined) return error;
  const remedied = new SvcError(codespace, code, message, { hint, cause: error });
  if (error.stack !== undefined) remedied.stack = error.stack;
  return remedied;
}

async function runCommand({ path, rest, unknown }: Resolved, world: World): Promise<number> {
  const spec = path.at(-1) ?? ROOT;
  const command = await toCommand(path, world.io);
  if (spec.load === undefined) return groupWithoutCommand(spec, command, unknown);
  const specs = allFlags(spec);
  const { load } = spec;
  let code: unknown;
  command.action(async () => {
    const flags = readFlags(command, specs, world.env);
    const run = await load();
    code = await run({ args: command.args, flags, io: world.io });
  });
  try {
    await command.parseAsync([...rest], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (COMMANDER_DONE.has(error.code)) return EXIT.done;
    throw commandLineFault(error, command);
  }
  return typeof code === "number" ? code : EXIT.done;
}

/** What commander says of a wrong command line, with the form of the right one. */
function commandLineFault(error: CommanderError, command: Command): UsageError {
  const text = error.message.replace(/^error: /, "").replaceAll("\n", " ");
  return new UsageError(text, `usage: ${command.name()} ${command.usage()}`);
}

/** A group alone prints its help; a word it does not know is an error with the nearest one. */
async function groupWithoutCommand(spec: CommandSpec, command: Command, word: string | undefined): Promise<number> {
  if (word === undefined) {
    command.outputHelp();
    return EXIT.done;
  }
  const names = ((await spec.commands?.()) ?? []).map((each) => each.name);
  const close = nearest(word, names);
  const hint = close === undefined ? `see: ${command.name()} --help` : `did you mean "${close}"?`;
  throw new UsageError(`unknown command "${word}" for "${command.name()}"`, hint);
}

/** The commander command of a path, with flags and help but without action. */
async function toCommand(path: readonly CommandSpec[], io: Io): Promise<Command> {
  const spec = path.at(-1) ?? ROOT;
  const command = new Command(path.map((each) => each.name).join(" "));
  command
    .description(spec.summary)
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: () => {}, getOutHelpWidth: () => HELP_WIDTH })
    .showSuggestionAfterError(true)
    .helpCommand(false)
    .addHelpOption(new Option("-h, --help", "show this help").helpGroup(GLOBAL_HEADING));
  for (const word of spec.args?.split(/\s+(?=[<[])/) ?? []) command.argument(word);
  for (const flag of allFlags(spec)) for (const option of toOptions(flag)) command.addOption(option);
  if (spec.passThrough === true) command.passThroughOptions();
  const children = (await spec.commands?.()) ?? [];
  for (const child of children) {
    const shown = child.aliases === undefined ? child.summary : `${child.summary} (also: ${child.aliases.join(", ")})`;
    command.addCommand(new Command(child.name).description(shown).helpOption(false));
  }
  const form = spec.load === undefined ? "<command>" : spec.args;
  command.usage([form, "[flags]"].filter(Boolean).join(" "));
  if (spec.example !== undefined) {
    command.addHelpText("after", `\nExample:\n  ${spec.example.replaceAll("\n", "\n  ")}`);
  }
  return command;
}

/** All flags of a command; groups show none, since each of their commands takes its own. */
function allFlags(spec: CommandSpec): readonly FlagSpec[] {
  return [...(spec.flags ?? []), ...GLOBAL_FLAGS];
}

/** The option of a flag, and a hidden one of its other spelling. */
function toOptions(spec: FlagSpec): Option[] {
  const value = spec.value === undefined ? "" : ` ${spec.value}`;
  const short = spec.short === undefined ? "" : `-${spec.short}, `;
  const shown = spec.default === undefined || spec.default === "" ? "" : ` (default ${spec.default})`;
  const choices = spec.choices === undefined ? "" : `: ${spec.choices.join(", ")}`;
  const option = new Option(`${short}--${spec.name}${value}`, `${spec.summary}${choices}${shown}`);
  option.helpGroup(spec.group ?? FLAGS_HEADING);
  const options = [option];
  if (spec.alias !== undefined) options.push(new Option(`--${spec.alias}${value}`).hideHelp());
  for (const each of options) {
    // `--no-backup` is a name like any other here, not the opposite of `--backup`.
    each.negate = false;
    if (spec.repeat === true) each.argParser((text: string, before?: string[]) => [...(before ?? []), text]);
  }
  return options;
}

function readFlags(command: Command, specs: readonly FlagSpec[], env: Environment): Flags {
  const parsed = new Map<string, string | boolean | readonly string[]>();
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === "string" || typeof value === "boolean" || Array.isArray(value)) {
      parsed.set(option.name(), value);
    }
  }
  return resolveFlags(specs, parsed, env);
}
