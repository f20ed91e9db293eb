import { EXIT, errorText, isOneOf, printable, SvcError } from "../util/index.ts";

export { commandError } from "../util/index.ts";

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  /** The right form. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = "UsageError";
    this.hint = hint;
  }
}

/** Ends the command with an exit code after it has printed its message. */
export class ExitError extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.name = "ExitError";
    this.code = code;
  }
}

/** Prints one sentence and the remedy, if any; a stack only with `--trace`. Returns the exit code. */
export function reportError(error: unknown, options: { trace: boolean; err: (text: string) => void }): number {
  if (error instanceof ExitError) return error.code;
  options.err(`Error: ${shown(errorText(error))}`);
  const hint = error instanceof SvcError || error instanceof UsageError ? error.hint : undefined;
  if (hint !== undefined) options.err(`Hint: ${shown(hint)}`);
  if (options.trace && error instanceof Error && error.stack !== undefined) options.err(printable(error.stack));
  if (error instanceof UsageError) return EXIT.usage;
  return isOneOf(MISSING_PROGRAMS, error) ? EXIT.missing : EXIT.failed;
}

/** Errors about a program of somebody else that is not installed: CometBFT, and Go to build it. */
const MISSING_PROGRAMS = [
  { codespace: "engine", code: 8 },
  { codespace: "engine", code: 9 },
];

/** A word longer than any address, hash or path that people read is cut: the user typed it and knows it. */
const LONG_WORD = /[^\s"]{400,}/g;
const MAX_TEXT = 8 * 1024;
const KEPT = 100;

function shown(text: string): string {
  const short = text.replace(LONG_WORD, (word) => `${word.slice(0, KEPT)}...`);
  return printable(short.length > MAX_TEXT ? `${short.slice(0, MAX_TEXT)}...` : short);
}

export function usageError(text: string, hint?: string): UsageError {
  return new UsageError(text, hint);
}

/** Ctrl-C at a prompt: nothing was done, exit code 130. */
export function interrupted(): ExitError {
  return new ExitError(EXIT.interrupted);
}
