import type { ChildProcess } from "node:child_process";
import { createWriteStream } from "node:fs";
import { commandError } from "../../errors.ts";

/** A process of the localnet. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  /** Set once it has ended: its exit code or signal. */
  readonly exited: string | undefined;
  /** The error that it printed; empty if none. */
  readonly lastWords: string;
  /** Asks it to end, waits, and kills it when it does not. */
  stop(): Promise<void>;
  /** Resolves when it has ended, whether stopped or not. */
  readonly ended: Promise<string>;
  /** Resolves when a line of its output matches; rejects when it ends first. */
  waitFor(pattern: RegExp): Promise<string>;
}

/** Milliseconds from SIGTERM to SIGKILL: a provider finishes its calls to the engine first. */
export const STOP_TIMEOUT_MS = 45_000;
/** Longest time from the end of a process to the end of its output. */
const LAST_WORDS_MS = 500;

interface Waiter {
  readonly pattern: RegExp;
  readonly resolve: (line: string) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Writes the output of a process to a log file and watches for its end. The process leads its own group, whose
 * remaining processes end with it; processes that keep its pipes open are not waited for.
 */
export function supervise(name: string, child: ChildProcess, logFile: string): Child {
  const log = createWriteStream(logFile, { flags: "a", mode: 0o600 });
  // A full disk ends the log, not the localnet.
  log.on("error", () => {});
  const waiters = new Set<Waiter>();
  let exited: string | undefined;
  let lastLine = "";
  let errorLine = "";
  let hintLine = "";
  const ending = () =>
    commandError(
      `the ${name} ended (${exited}): ${errorLine === "" ? lastLine : errorLine}`,
      hintLine === "" ? {} : { hint: hintLine },
    );
  const onLine = (line: string): void => {
    if (line.trim() !== "") lastLine = line;
    if (line.startsWith("Error: ")) errorLine = line.slice("Error: ".length);
    if (line.startsWith("Hint: ")) hintLine = line.slice("Hint: ".length).replace(LISTEN_FLAG, OTHER_PORTS);
    for (const waiter of waiters) {
      if (!waiter.pattern.test(line)) continue;
      waiters.delete(waiter);
      waiter.resolve(line);
    }
  };
  for (const stream of [child.stdout, child.stderr]) watchLines(stream, log, onLine);
  const ended = new Promise<string>((resolve) => {
    const end = (text: string): void => {
      exited = text;
      log.end();
      for (const { reject } of waiters) reject(ending());
      waiters.clear();
      resolve(text);
    };
    const over = (text: string): void => {
      if (exited !== undefined) return;
      endGroup(child, "SIGKILL");
      end(text);
    };
    child.once("error", (error) => over(error.message));
    child.once("close", (code, signal) => over(signal ?? `exit code ${code}`));
    // A copy that the process made of itself may hold its pipes forever; we wait a moment for the last lines.
    child.once("exit", (code, signal) => {
      endGroup(child, "SIGTERM");
      setTimeout(() => {
        over(signal ?? `exit code ${code}`);
        for (const stream of [child.stdout, child.stderr]) stream?.destroy();
      }, LAST_WORDS_MS).unref();
    });
  });
  return {
    name,
    pid: child.pid ?? 0,
    get exited() {
      return exited;
    },
    get lastWords() {
      return errorLine;
    },
    ended,
    stop: () => stop(child, ended),
    waitFor(pattern) {
      if (exited !== undefined) return Promise.reject(ending());
      return new Promise((resolve, reject) => waiters.add({ pattern, resolve, reject }));
    },
  };
}

/** The flag with which a process is told its port: a localnet gives it, and moves all ports by another one. */
const LISTEN_FLAG = /choose another(?: port)? with --[\w.-]+/;
const OTHER_PORTS = "use other ports: --port-offset 100";

function watchLines(
  stream: NodeJS.ReadableStream | null,
  log: NodeJS.WritableStream,
  onLine: (line: string) => void,
): void {
  let rest = "";
  stream?.setEncoding("utf8");
  stream?.on("data", (chunk: string) => {
    log.write(chunk);
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) endGroup(child, "SIGTERM");
  const timer = setTimeout(() => endGroup(child, "SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

/** Signals the process and all that stayed in its group. */
function endGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nothing is left in the group, or it has none of its own.
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  }
}
