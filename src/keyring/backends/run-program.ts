import { spawn } from "node:child_process";
import { errorText } from "../../util/index.ts";

/** How a program ended. */
export interface Ran {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
  readonly timedOut: boolean;
}

export interface RunRequest {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Standard input. Without it the program has the terminal, if there is one, so that it can ask. */
  readonly input?: Uint8Array;
}

const MAX_OUTPUT = 1024 * 1024;

/** Runs a program to its end; secrets go in and out through pipes only. */
export function runProgram(program: string, args: readonly string[], request: RunRequest): Promise<Ran> {
  const { env, timeoutMs, input } = request;
  return new Promise((resolve) => {
    const terminal = process.stdin.isTTY === true ? "inherit" : "ignore";
    const stdin = input === undefined ? terminal : "pipe";
    const child = spawn(program, args, { env: { ...env }, stdio: [stdin, "pipe", "pipe"] });
    const stdout: Buffer[] = [];
    let [size, stderr, timedOut] = [0, "", false];
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill();
      // A program that it has started may hold the pipes open.
      for (const pipe of [child.stdout, child.stderr]) pipe?.destroy();
    }, timeoutMs);
    child.stdout?.on("data", (bytes: Buffer) => {
      size += bytes.length;
      if (size <= MAX_OUTPUT) stdout.push(bytes);
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-MAX_OUTPUT);
    });
    const end = (code: number, text = stderr): void => {
      clearTimeout(timer);
      resolve({ code, stdout: Buffer.concat(stdout), stderr: text, timedOut });
    };
    child.once("error", (error) => end(-1, errorText(error)));
    child.once("close", (code) => end(code ?? -1));
    // It may end before it has read everything.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}
