import { deployErrors } from "../../tenant/index.ts";
import { EXIT, errorText, isOneOf, printable, SvcError } from "../../util/index.ts";
import type { CommandInput } from "../command/spec.ts";
import { ExitError } from "../errors.ts";
import { interruptible, tellInterrupted } from "../terminal/interruptible.ts";

/** Runs a command that can be interrupted and cancelled; returns its exit code. The program reports other errors. */
export async function runToEnd(input: CommandInput, work: (signal: AbortSignal) => Promise<void>): Promise<number> {
  try {
    await interruptible(work);
    return EXIT.done;
  } catch (error) {
    return ending(input, error);
  }
}

function ending({ flags, io }: CommandInput, error: unknown): number {
  if (is(error, "cancelled")) {
    io.err("cancelled: nothing was sent (-y asks no questions)\n");
    return EXIT.done;
  }
  if (flags.text("output") === "json" && !(error instanceof ExitError))
    io.out(`${printable(JSON.stringify(errorJson(error)))}\n`);
  if (!is(error, "interrupted")) throw error;
  return tellInterrupted(io, error.message, error.hint);
}

export function is(error: unknown, name: "interrupted" | "cancelled"): error is SvcError {
  return error instanceof SvcError && isOneOf([deployErrors[name]], error);
}

/** The error for `-o json`, in place of a result. */
export function errorJson(error: unknown): object {
  const hint = error instanceof Error && "hint" in error && typeof error.hint === "string" ? { hint: error.hint } : {};
  const known = error instanceof SvcError ? { codespace: error.codespace, code: error.code } : {};
  return { error: { message: errorText(error), ...hint, ...known } };
}
