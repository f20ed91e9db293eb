import { errorText } from "../util/index.ts";
import { UsageError, usageError } from "./errors.ts";
import type { Flags } from "./flags.ts";

/** Runs a parser of a flag's value; what it says is told of the flag, or of the variable that stands for it. */
export function inFlag<T>(flags: Pick<Flags, "label">, name: string, read: () => T): T {
  return named(flags.label(name), read);
}

/** The same of an argument. */
export function inArgument<T>(name: string, read: () => T): T {
  return named(`<${name}>`, read);
}

function named<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof UsageError ? error : usageError(`${name}: ${errorText(error)}`);
  }
}
