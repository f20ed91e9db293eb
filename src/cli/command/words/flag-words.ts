import { UsageError } from "../../errors.ts";
import type { FlagSpec } from "../flag-spec.ts";
import { isFalse, isTrue } from "../flags.ts";
import type { CommandSpec } from "../spec.ts";

/** Words of a command line, and the switches among them that had a value. */
export interface FlagWords {
  readonly words: readonly string[];
  readonly switches: ReadonlyMap<string, boolean>;
}

/**
 * Handles forms that the ecosystem's tools allow besides the usual ones: a value after a switch (`--yes=false`, and
 * `--yes true` if the command has no arguments that `true` could be) and an equals sign after a short flag (`-o=json`).
 * Stops at `--` and, with `passThrough`, at the first word that is not a flag; with `programAfter`, after some
 * arguments.
 */
export function readFlagWords(
  given: readonly string[],
  specs: readonly FlagSpec[],
  { args, passThrough, programAfter }: Pick<CommandSpec, "args" | "passThrough" | "programAfter">,
): FlagWords {
  const words: string[] = [];
  const switches = new Map<string, boolean>();
  let positionals = 0;
  for (let at = 0; at < given.length; at++) {
    const word = given[at] ?? "";
    if (word === "--" || (passThrough === true && !isFlag(word)))
      return { words: [...words, ...given.slice(at)], switches };
    if (!isFlag(word) && positionals++ === programAfter)
      return { words: [...words, "--", ...given.slice(at)], switches };
    const spec = isFlag(word) ? specs.find((each) => spellings(each).includes(nameOf(word))) : undefined;
    let value = word.includes("=") ? word.slice(word.indexOf("=") + 1) : undefined;
    const isSwitch = spec !== undefined && spec.value === undefined;
    if (isSwitch && value === undefined && args === undefined && isTrueOrFalse(given[at + 1])) value = given[++at];
    if (spec === undefined) words.push(word);
    else if (isSwitch && value !== undefined) switches.set(spec.name, switchValue(nameOf(word), value));
    else if (value !== undefined && !word.startsWith("--")) words.push(nameOf(word), value);
    else words.push(word);
    // The value of a flag may look like a flag.
    if (spec?.value !== undefined && value === undefined && at + 1 < given.length) words.push(given[++at] ?? "");
  }
  return { words, switches };
}

/** Whether a word is a flag, and not standard input. */
export function isFlag(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}

function isTrueOrFalse(word: string | undefined): boolean {
  return word === "true" || word === "false";
}

function nameOf(word: string): string {
  return word.split("=", 1)[0] ?? "";
}

/** A flag as it may be written. */
export function spellings({ name, short, alias }: FlagSpec): string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`]), ...(alias === undefined ? [] : [`--${alias}`])];
}

function switchValue(name: string, value: string): boolean {
  if (isTrue(value)) return true;
  if (isFalse(value)) return false;
  throw new UsageError(`${name} takes true or false, not ${JSON.stringify(value.slice(0, 64))}`, `write ${name} alone`);
}
