import { deployErrors } from "../../tenant/index.ts";
import { EXIT, errorText, isOneOf, printable, SvcError } from "../../util/index.ts";
import type { CommandInput } from "../command/spec.ts";
import { ExitError } from "../errors.ts";

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
  io.err(`\n${printable(error.message)}\n`);
  if (error.hint !== undefined) io.err(`${printable(error.hint)}\n`);
  return EXIT.interrupted;
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

/** How long an interrupted command has to print its last words and end. */
const GRACE_MS = 1500;

/**
 * Runs work that stops in an orderly way when the process is asked to end: the first Ctrl-C aborts the signal; a second
 * one, or a timeout, ends the process.
 */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const end = (): void => process.exit(EXIT.interrupted);
  const onSignal = (): void => {
    if (stop.signal.aborted) end();
    stop.abort();
    // Requests under way would keep the process for as long as their answers take.
    setTimeout(end, GRACE_MS).unref();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  try {
    return await work(stop.signal);
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
    // An unanswered question does not keep the process alive.
    if (stop.signal.aborted) process.stdin.pause();
  }
}
