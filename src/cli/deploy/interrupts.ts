import { EXIT } from "../../util/index.ts";

/** Time in which an interrupted command may say what it has to say and end by itself. */
const GRACE_MS = 1500;

/**
 * Runs work that stops, by its own will, when the process is asked to end: the first Ctrl-C aborts the signal, a second one
 * or some patience ends the process.
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
    // A question that nobody will answer keeps no process.
    if (stop.signal.aborted) process.stdin.pause();
  }
}
