import { allFlags, flagForm, usageForm } from "../command-line.ts";
import type { FlagSpec } from "../flag-spec.ts";
import { envName } from "../flags.ts";
import type { CommandSpec } from "../spec.ts";

/**
 * The remedy of a wrong command line whose error has none: the form of the only flag in the text, or else of the whole
 * command. `name` is the words of the command.
 */
export function usageHint(text: string, name: string, spec: CommandSpec): string {
  const flag = flagIn(text, allFlags(spec));
  if (flag !== undefined) {
    const { form, summary } = flagForm(flag);
    return `usage: ${form}  ${summary}`;
  }
  return `usage: ${name} ${usageForm(spec)}`;
}

function flagIn(text: string, flags: readonly FlagSpec[]): FlagSpec | undefined {
  const found = flags.filter(({ name }) => words(text).some((word) => word === `--${name}` || word === envName(name)));
  const [first, ...others] = found;
  return others.length === 0 ? first : undefined;
}

/** Names of flags and variables in a sentence. */
function words(text: string): readonly string[] {
  const key = /^client\.toml: ([\w-]+)/.exec(text)?.[1];
  return [...(key === undefined ? [] : [`--${key}`]), ...(text.match(/--[a-z][\w.-]*\w|\bSVC_[A-Z_]+/g) ?? [])];
}
