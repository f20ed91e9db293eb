import { errorText, SvcError } from "../../util/index.ts";
import { UsageError, usageError } from "../errors.ts";
import type { Flags } from "./flags.ts";

/** Runs the parser of a flag's value; its error names the flag, or the variable or key that set it. */
export function inFlag<T>(flags: Pick<Flags, "label">, name: string, read: () => T): T {
  return named(flags.label(name), read);
}

/** The same for an argument. */
export function inArgument<T>(name: string, read: () => T): T {
  return named(`<${name}>`, read);
}

function named<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw usageError(`${name}: ${errorText(error)}`, error instanceof SvcError ? error.hint : undefined);
  }
}
