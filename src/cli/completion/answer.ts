import { printable } from "../../util/index.ts";
import { allFlags } from "../command/command-line.ts";
import type { FlagSpec } from "../command/flag-spec.ts";
import type { Flags, Parsed } from "../command/flags.ts";
import type { CommandSpec } from "../command/spec.ts";
import { isFlag, spellings } from "../command/words/flag-words.ts";
import { AMBIGUOUS, resolveCommand, SWITCHES } from "../command/words/normalize.ts";
import { type Candidate, sourceOfArgument, sourceOfFlag, valuesOf } from "./values.ts";

/** The command tree, and the flags of a command with the settings that apply to them. */
export interface CompletionTree {
  readonly root: CommandSpec;
  flagsOf(spec: CommandSpec, parsed: Parsed): Promise<Flags>;
}

const HELP: FlagSpec = { name: "help", short: "h", summary: "show this help" };

/**
 * The lines of `svc __complete WORD...` for completion scripts: candidates for the last word, which may be empty.
 * Completion runs while the user types, so a failure gives no lines.
 */
export async function completionLines(given: readonly string[], tree: CompletionTree): Promise<string> {
  const words = unsplit(given);
  const current = words.at(-1) ?? "";
  const found = await candidates(words.slice(0, -1), current, tree).catch(() => []);
  // Bash replaces its own last word, which is the value alone in "--flag=value".
  const kept = current.length - (isSeparator(given.at(-1)) ? 0 : (given.at(-1) ?? "").length);
  const isRule = (word: string): boolean => word.startsWith(":");
  return found
    .filter(({ word }) => isRule(word) || word.startsWith(current))
    .map(({ word, summary }) => `${isRule(word) ? word : `${word.slice(kept)}\t${oneLine(summary)}`}\n`)
    .join("");
}

/** Bash splits `--flag=value` into three words, and `tcp://host` as well. */
function unsplit(given: readonly string[]): string[] {
  const words: string[] = [];
  for (let at = 0; at < given.length; at++) {
    const word = given[at] ?? "";
    if (isSeparator(word)) words.push(`${words.pop() ?? ""}${word}${given[++at] ?? ""}`);
    else words.push(word);
  }
  return words;
}

function isSeparator(word: string | undefined): boolean {
  return word === "=" || word === ":";
}

function oneLine(text: string): string {
  return printable(text).replaceAll(/\s+/g, " ");
}

async function candidates(
  before: readonly string[],
  current: string,
  { root, flagsOf }: CompletionTree,
): Promise<readonly Candidate[]> {
  const { path, rest, unknown } = await resolveCommand(root, before);
  const spec = path.at(-1) ?? root;
  const children = unknown === undefined ? ((await spec.commands?.()) ?? []) : [];
  const flags = [...allFlags(spec).filter(({ hidden }) => hidden !== true), HELP];
  // A flag that is a switch for some commands takes no value that names a command.
  const isCommand = children.some(({ name }) => current !== "" && name.startsWith(current));
  const isSwitch = (word: string): boolean => SWITCHES.has(word) || (AMBIGUOUS.has(word) && isCommand);
  const { parsed, args, open, ended } = readLine(rest, flags, isSwitch);
  if (ended) return [];
  const ofFlag = async (flag: FlagSpec): Promise<readonly Candidate[]> =>
    flag.choices?.map((word) => ({ word, summary: "" })) ?? valuesOf(sourceOfFlag(flag), await flagsOf(spec, parsed));
  if (open !== undefined) return ofFlag(open);
  if (current.startsWith("-")) {
    const [name = "", value] = current.split("=", 2);
    if (value === undefined) return flags.flatMap(flagCandidates);
    const flag = flags.find((each) => spellings(each).includes(name));
    return flag === undefined ? [] : (await ofFlag(flag)).map((each) => after(`${name}=`, each));
  }
  const source = sourceOfArgument(path.slice(1), args);
  const values = source === undefined ? [] : await valuesOf(source, await flagsOf(spec, parsed));
  return [...children.map(({ name, summary }) => ({ word: name, summary })), ...values];
}

function after(prefix: string, candidate: Candidate): Candidate {
  return candidate.word.startsWith(":") ? candidate : { ...candidate, word: prefix + candidate.word };
}

function flagCandidates({ name, short, summary }: FlagSpec): Candidate[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])].map((word) => ({ word, summary }));
}

/** A command line up to the word that is being typed. */
interface Line {
  readonly parsed: Parsed;
  /** Number of arguments. */
  readonly args: number;
  /** The flag whose value comes next. */
  readonly open: FlagSpec | undefined;
  /** Only arguments may follow. */
  readonly ended: boolean;
}

/** Reads flags: the command's own or, before its word is written, any command's. */
function readLine(words: readonly string[], flags: readonly FlagSpec[], isSwitch: (word: string) => boolean): Line {
  const parsed = new Map<string, string | boolean>();
  let args = 0;
  let open: FlagSpec | undefined;
  for (const word of words) {
    if (open !== undefined) {
      parsed.set(open.name, word);
      open = undefined;
    } else if (word === "--") return { parsed, args, open, ended: true };
    else if (!isFlag(word)) args += 1;
    else {
      const [name = "", value] = word.split("=", 2);
      const known = flags.find((each) => spellings(each).includes(name));
      const takesValue = known === undefined ? !isSwitch(name) : known.value !== undefined;
      if (value !== undefined) parsed.set(known?.name ?? name, value);
      else if (takesValue) open = known ?? { name: name.replace(/^--/, ""), value: "", summary: "" };
      else parsed.set(known?.name ?? name, true);
    }
  }
  return { parsed, args, open, ended: false };
}
