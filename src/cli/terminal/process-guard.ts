import { EXIT } from "../../util/index.ts";
import { commandError, reportError } from "../errors.ts";

/** The parts of a process that are watched. */
export interface GuardedProcess {
  readonly stdout: GuardedStream;
  readonly stderr: GuardedStream;
  /** Whether a standard stream is a terminal, and is one still. */
  isTerminal(descriptor: number): boolean;
  on(event: "uncaughtException" | "exit", listener: (error: unknown) => void): unknown;
  listenerCount(event: "SIGTERM"): number;
  removeAllListeners(event: "SIGHUP"): unknown;
  /** Sends this process a signal. */
  end(signal: "SIGTERM" | "SIGHUP"): void;
  exit(code: number): void;
}

interface GuardedStream {
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  write(text: string): unknown;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "no space left on the device",
  EBADF: "it is closed",
};

/**
 * Ends the process in an orderly way in cases that the command does not handle. A reader that has gone (`svc ... |
 * head`) ends the process as it would any other program, in order where the command can; output that cannot be written
 * and errors that escaped are reported in one sentence, with a stack only when asked.
 */
export function guardProcess(process: GuardedProcess, { trace }: { readonly trace: boolean }): void {
  let isEnding = false;
  const fail = (error: unknown): void => {
    if (!isEnding) process.exit(reportError(error, { trace, err: (text) => process.stderr.write(`${text}\n`) }));
  };
  const readerGone = (): void => {
    if (isEnding) return;
    isEnding = true;
    if (process.listenerCount("SIGTERM") > 0) process.end("SIGTERM");
    else process.exit(EXIT.done);
  };
  process.stdout.on("error", (error) => {
    if (isGone(error)) readerGone();
    else fail(commandError(`cannot write to standard output: ${REASONS[error.code ?? ""] ?? error.message}`));
  });
  process.stderr.on("error", (error) => {
    // Output is closed, so nothing can be reported; the work itself continues.
    if (isGone(error)) readerGone();
  });
  process.on("uncaughtException", fail);
  const terminals = STREAMS.filter((descriptor) => process.isTerminal(descriptor));
  process.on("exit", () => {
    if (terminals.every((descriptor) => process.isTerminal(descriptor))) return;
    // Node.js resets terminals when it exits, and aborts if one has gone. A process that loses its terminal ends by the
    // matching signal.
    process.removeAllListeners("SIGHUP");
    process.end("SIGHUP");
  });
}

const STREAMS = [0, 1, 2];

/** The other end of the pipe is closed, or the terminal is. */
function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "EIO";
}
