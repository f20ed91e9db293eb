import { nearest } from "../../../util/index.ts";
import { UsageError } from "../../errors.ts";
import { allFlags, flagForm } from "../command-line.ts";
import type { FlagSpec } from "../flag-spec.ts";
import type { CommandSpec } from "../spec.ts";
import { spellings } from "./flag-words.ts";

/**
 * Checks the flags of a group that was called without a command, which prints its help: flags of its commands are
 * allowed, others are typing errors, and the last one must have its value.
 */
export async function checkGroupFlags(spec: CommandSpec, words: readonly string[]): Promise<void> {
  // The most common call needs none of the tables below.
  if (words.every((word) => HELP_WORDS.includes(word))) return;
  const known = new Map((await flagsBelow(spec)).flatMap((flag) => spellings(flag).map((word) => [word, flag])));
  for (let at = 0; at < words.length; at++) {
    const name = words[at]?.split("=", 1)[0] ?? "";
    if (name === "--") return;
    const flag = known.get(name) ?? known.get(name.slice(0, 2));
    if (flag === undefined) throw unknownFlag(name, [...known.keys()]);
    if (flag.value === undefined || words[at] !== name || !known.has(name)) continue;
    at += 1;
    if (at === words.length) throw new UsageError(`option '${flagForm(flag).form}' argument missing`);
  }
}

const HELP_WORDS = ["--help", "-h"];
const HELP: FlagSpec = { name: "help", short: "h", summary: "" };

async function flagsBelow(spec: CommandSpec): Promise<FlagSpec[]> {
  const children = (await spec.commands?.()) ?? [];
  return [...allFlags(spec), HELP, ...(await Promise.all(children.map(flagsBelow))).flat()];
}

function unknownFlag(name: string, known: readonly string[]): UsageError {
  const close = nearest(name, known, known.length);
  return new UsageError(`unknown option '${name}'`, close === undefined ? undefined : `did you mean ${close}?`);
}
