import { EXIT, printable } from "../../util/index.ts";
import type { Io } from "./io.ts";

/** How long an interrupted command has to print its last words and end. */
const GRACE_MS = 1500;

/**
 * Runs work that stops in an orderly way when the process is asked to end: the first Ctrl-C aborts the signal; a second
 * one, or a timeout, ends the process.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
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

/** Tells where an interruption leaves things, and the next step; returns the exit code. */
export function tellInterrupted(io: Io, text: string, hint?: string): number {
  io.err(`\n${printable(text)}\n`);
  if (hint !== undefined) io.err(`${printable(hint)}\n`);
  return EXIT.interrupted;
}
