import { Command, CommanderError, Option } from "commander";
import { EXIT } from "../util/index.ts";
import { reportError, UsageError } from "./errors.ts";
import { type Flags, resolveFlags } from "./flags.ts";
import { GLOBAL_FLAGS } from "./global-flags.ts";
import { resolveCommand } from "./normalize.ts";
import { ROOT } from "./root.ts";
import type { CommandSpec, FlagSpec, Run } from "./spec.ts";
import { nearest } from "./suggest.ts";

const COMMANDER_DONE = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

/** Runs one command line and returns the exit code of the process. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const trace = argv.includes("--trace");
  const err = (text: string) => process.stderr.write(`${text}\n`);
  try {
    const { path, rest } = await resolveCommand(ROOT, argv);
    return await runCommand(path, rest);
  } catch (error) {
    if (error instanceof CommanderError) return commanderExit(error, err);
    return reportError(error, { trace, err });
  }
}

/** Commander has printed its own message; only help that was asked for is a success. */
function commanderExit(error: CommanderError, err: (text: string) => void): number {
  if (COMMANDER_DONE.has(error.code)) return EXIT.done;
  err(`Error: ${error.message.replace(/^error: /, "")}`);
  return EXIT.usage;
}

async function runCommand(path: readonly CommandSpec[], rest: readonly string[]): Promise<number> {
  const spec = path.at(-1) ?? ROOT;
  const command = await toCommand(path);
  const specs = [...(spec.flags ?? []), ...GLOBAL_FLAGS];
  if (spec.load === undefined) return groupWithoutCommand(spec, command, rest);
  const { load } = spec;
  let code: number | undefined;
  command.action(async () => {
    const flags = readFlags(command, specs);
    const run: Run = await load();
    code = await run({ args: command.args, flags });
  });
  await command.parseAsync([...rest], { from: "user" });
  return code ?? EXIT.done;
}

/** A group alone prints its help; a word it does not know is an error with the nearest one. */
async function groupWithoutCommand(spec: CommandSpec, command: Command, rest: readonly string[]): Promise<number> {
  const word = rest.find((each) => !each.startsWith("-"));
  if (word === undefined || rest.includes("--help") || rest.includes("-h")) {
    process.stdout.write(command.helpInformation());
    return EXIT.done;
  }
  const names = ((await spec.commands?.()) ?? []).map((each) => each.name);
  const close = nearest(word, names);
  const meant = close === undefined ? `see: ${command.name()} --help` : `did you mean "${close}"?`;
  throw new UsageError(`unknown command "${word}" for "${command.name()}"; ${meant}`);
}

/** The commander command of a path, with flags and help but without action. */
async function toCommand(path: readonly CommandSpec[]): Promise<Command> {
  const spec = path.at(-1) ?? ROOT;
  const command = new Command(path.map((each) => each.name).join(" "));
  command
    .description(spec.summary)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showSuggestionAfterError(true);
  for (const word of spec.args?.split(/\s+(?=[<[])/) ?? []) command.argument(word);
  for (const flag of [...(spec.flags ?? []), ...GLOBAL_FLAGS]) command.addOption(toOption(flag));
  if (spec.passThrough === true) command.passThroughOptions();
  for (const child of (await spec.commands?.()) ?? []) {
    command.addCommand(new Command(child.name).description(child.summary).helpOption(false));
  }
  command.helpCommand(false);
  if (spec.example !== undefined)
    command.addHelpText("after", `\nExample:\n  ${spec.example.replaceAll("\n", "\n  ")}`);
  return command;
}

function toOption(spec: FlagSpec): Option {
  const names = `${spec.short === undefined ? "" : `-${spec.short}, `}--${spec.name}`;
  const shown = spec.default === undefined || spec.default === "" ? "" : ` (default ${spec.default})`;
  const choices = spec.choices === undefined ? "" : `: ${spec.choices.join(", ")}`;
  const option = new Option(
    `${names}${spec.value === undefined ? "" : ` ${spec.value}`}`,
    `${spec.summary}${choices}${shown}`,
  );
  if (spec.repeat === true)
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  return option;
}

function readFlags(command: Command, specs: readonly FlagSpec[]): Flags {
  const parsed = new Map<string, string | boolean | readonly string[]>();
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === "string" || typeof value === "boolean" || Array.isArray(value)) {
      parsed.set(option.name(), value);
    }
  }
  return resolveFlags(specs, parsed, process.env);
}
