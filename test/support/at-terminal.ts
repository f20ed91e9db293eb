import { spawn } from "node:child_process";
import { environment, type SvcRequest } from "./run-svc.ts";
import { PATIENCE_MS, waitFor } from "./wait.ts";

/** Typed text, and the prompt at which it is typed. */
export type Answer = readonly [prompt: string, text: string];

export interface Screen {
  readonly code: number | undefined;
  /** The text of the screen, with plain line ends. */
  readonly text: string;
}

/** A line of the shell that runs at a pseudo terminal. */
export interface Terminal {
  /** Waits for text on the screen; fails at once when the program ends before it comes. */
  shows(pattern: RegExp): Promise<void>;
  /** The key that interrupts a program. */
  interrupt(): void;
  kill(): void;
  readonly closed: Promise<Screen>;
}

const LONG_MS = 600_000;
const STARTING_MS = 180_000;

/** Runs a line of the shell at a pseudo terminal (`script` of util-linux makes one) and types each answer at its prompt. */
export function atTerminal(line: string, answers: readonly Answer[], request: SvcRequest): Promise<Screen> {
  return openTerminal(line, answers, request, PATIENCE_MS).closed;
}

/** The same for a program that goes on; it is killed after its time. */
export function openTerminal(
  line: string,
  answers: readonly Answer[],
  request: SvcRequest,
  timeout = LONG_MS,
): Terminal {
  const cwd = request.cwd === undefined ? {} : { cwd: request.cwd };
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
    env: environment(request),
    timeout,
    killSignal: "SIGKILL",
    ...cwd,
  });
  const pending = [...answers];
  let text = "";
  let looked = 0;
  let isClosed = false;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    const [next] = pending;
    if (next === undefined || !text.slice(looked).includes(next[0])) return;
    looked = text.length;
    pending.shift();
    // Typed as a person would: with the key Enter, after the prompt has appeared.
    child.stdin.write(`${next[1]}\r`);
  });
  const screen = (): string => text.replaceAll("\r\n", "\n");
  const closed = new Promise<Screen>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      isClosed = true;
      const [left] = pending;
      if (left === undefined) resolve({ code: code ?? undefined, text: screen() });
      else reject(new Error(`nobody asked for "${left[0]}":\n${screen()}`));
    });
  });
  const shows = async (pattern: RegExp): Promise<void> => {
    const question = (): boolean => pattern.test(screen()) || isClosed;
    await waitFor(question, `${pattern} on the screen`, { timeoutMs: STARTING_MS });
    if (!pattern.test(screen())) throw new Error(`the program ended without ${pattern}:\n${screen()}`);
  };
  return {
    shows,
    interrupt: () => child.stdin.write("\x03"),
    kill: () => child.kill("SIGKILL"),
    closed,
  };
}
