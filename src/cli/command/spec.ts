import type { Io } from "../terminal/io.ts";
import type { FlagSpec } from "./flag-spec.ts";
import type { Flags } from "./flags.ts";

export interface CommandInput {
  /** Positional arguments; optional ones that were left out are missing. */
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly io: Io;
}

/** Exit code of the process; nothing means 0. */
export type Run = (input: CommandInput) => Promise<number | undefined> | Promise<void>;

/**
 * One word of the command line: either a group with commands below it or a command that runs. Specs are light; `load`
 * imports a command's code when it runs.
 */
export interface CommandSpec {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Its heading in the help of its group. */
  readonly heading?: string;
  /** Positionals in usage form: `<file>`, `[address]`, `[words...]`. */
  readonly args?: string;
  readonly flags?: readonly FlagSpec[];
  /** Remedy for more arguments than `args` names. */
  readonly tooMany?: string;
  /** Flags of related commands that people try here, and the right form. */
  readonly otherFlags?: { readonly names: readonly string[]; readonly remedy: string };
  /** Shown in the help, one command a line. */
  readonly example?: string;
  readonly load?: () => Promise<Run>;
  readonly commands?: () => Promise<readonly CommandSpec[]>;
  /** Words after the positionals belong to another program: flags among them are not ours. */
  readonly passThrough?: boolean;
  /** The number of arguments that flags may follow; the words of another program begin with the next one. */
  readonly programAfter?: number;
  /** Runs without reading `client.toml`, so also when it cannot be read. */
  readonly withoutConfig?: boolean;
}

/** Commands below a heading in the help of their group. */
export function under(heading: string, commands: readonly CommandSpec[]): CommandSpec[] {
  return commands.map((each) => ({ ...each, heading: `${heading}:` }));
}
