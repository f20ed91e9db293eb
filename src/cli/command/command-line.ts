import { Command, CommanderError, Option } from "commander";
import { UsageError } from "../errors.ts";
import type { Io } from "../terminal/io.ts";
import type { FlagSpec } from "./flag-spec.ts";
import type { Parsed } from "./flags.ts";
import { GLOBAL_FLAGS, GLOBAL_HEADING } from "./global-flags.ts";
import type { CommandSpec } from "./spec.ts";
import { readFlagWords } from "./words/flag-words.ts";

const COMMANDER_DONE = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);
/** The same help on every terminal and in every file. */
const HELP_WIDTH = 110;
const FLAGS_HEADING = "Flags:";

/** Arguments and flags as they were written. */
export interface ParsedLine {
  readonly args: readonly string[];
  readonly flags: Parsed;
}

/** The commander command of a path, with flags and help but without action. */
export async function toCommand(path: readonly CommandSpec[], io: Pick<Io, "out">): Promise<Command> {
  const spec = specOf(path);
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
    const listed = new Command(child.name).description(shown).helpOption(false);
    command.addCommand(child.heading === undefined ? listed : listed.helpGroup(child.heading));
  }
  command.usage(usageForm(spec));
  if (spec.example !== undefined) {
    command.addHelpText("after", `\nExample:\n  ${spec.example.replaceAll("\n", "\n  ")}`);
  }
  return command;
}

/** The words of a command line after the command's. Flags stand before the words of another program. */
export function usageForm({ load, args = "", passThrough, programAfter }: CommandSpec): string {
  if (load === undefined) return "<command> [flags]";
  const words = args === "" ? [] : args.split(/\s+(?=[<[])/);
  const place = passThrough === true ? 0 : (programAfter ?? words.length);
  return words.toSpliced(place, 0, "[flags]").join(" ");
}

/** All flags of a command; groups show none, since each of their commands takes its own. */
export function allFlags(spec: CommandSpec): readonly FlagSpec[] {
  return [...(spec.flags ?? []), ...GLOBAL_FLAGS];
}

/** Reads the words after the command's; undefined if they asked for help, which is then printed. */
export async function parseLine(
  command: Command,
  spec: CommandSpec,
  rest: readonly string[],
): Promise<ParsedLine | undefined> {
  const { words, switches } = readFlagWords(rest, allFlags(spec), spec);
  command.action(() => {});
  try {
    await command.parseAsync([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (COMMANDER_DONE.has(error.code)) return undefined;
    throw commandLineFault(error, remedyOf(error, command.name(), spec));
  }
  return { args: command.args, flags: new Map([...parsedFlags(command), ...switches]) };
}

/** The remedy of mistakes that have a usual reason. */
function remedyOf({ code, message }: CommanderError, name: string, spec: CommandSpec): string | undefined {
  if (code === "commander.excessArguments") {
    const quotes = spec.args === undefined ? "" : '; a word with spaces needs quotes: "my word"';
    return spec.tooMany ?? `usage: ${name} ${usageForm(spec)}${quotes}`;
  }
  const flag = /unknown option '--([^'=]+)/.exec(message)?.[1] ?? "";
  return spec.otherFlags?.names.includes(flag) === true ? spec.otherFlags.remedy : undefined;
}

/** Translates commander's error about a wrong command line; the nearest word is the remedy. */
function commandLineFault(error: CommanderError, remedy?: string): UsageError {
  const [, text = "", close] = /^(?:error: )?(.*?)\s*(?:\((Did you mean .*)\))?$/s.exec(error.message) ?? [];
  return new UsageError(text.replaceAll("\n", " "), remedy ?? close?.replace("Did", "did"));
}

function specOf(path: readonly CommandSpec[]): CommandSpec {
  const spec = path.at(-1);
  if (spec === undefined) throw new RangeError("a command has at least one word");
  return spec;
}

/** A flag as the help shows it. */
export function flagForm(spec: FlagSpec): { readonly form: string; readonly summary: string } {
  const short = spec.short === undefined ? "" : `-${spec.short}, `;
  const shown = spec.default === undefined || spec.default === "" ? "" : ` (default ${spec.default})`;
  const choices = spec.choices === undefined ? "" : `: ${spec.choices.join(", ")}`;
  return { form: `${short}--${spec.name}${valueForm(spec)}`, summary: `${spec.summary}${choices}${shown}` };
}

function valueForm({ value }: FlagSpec): string {
  return value === undefined ? "" : ` ${value}`;
}

/** The option of a flag, and a hidden one for its other spelling. */
function toOptions(spec: FlagSpec): Option[] {
  const { form, summary } = flagForm(spec);
  const option = new Option(form, summary);
  option.helpGroup(spec.group ?? FLAGS_HEADING);
  if (spec.hidden === true) option.hideHelp();
  const options = [option];
  if (spec.alias !== undefined) options.push(new Option(`--${spec.alias}${valueForm(spec)}`).hideHelp());
  for (const each of options) {
    // `--no-backup` is a name like any other here, not the opposite of `--backup`.
    each.negate = false;
    if (spec.repeat === true) each.argParser((text: string, before?: string[]) => [...(before ?? []), text]);
  }
  return options;
}

function parsedFlags(command: Command): Map<string, string | boolean | readonly string[]> {
  const parsed = new Map<string, string | boolean | readonly string[]>();
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === "string" || typeof value === "boolean" || Array.isArray(value)) {
      parsed.set(option.name(), value);
    }
  }
  return parsed;
}
