import { spawn } from "node:child_process";
import { environment, type SvcRequest } from "./run-svc.ts";

/** Typed text, and the prompt at which it is typed. */
export type Answer = readonly [prompt: string, text: string];

export interface Screen {
  readonly code: number | undefined;
  /** The text of the screen, with plain line ends. */
  readonly text: string;
}

const TIMEOUT_MS = 60_000;

/** Runs a line of the shell at a pseudo terminal (`script` of util-linux makes one) and types each answer at its prompt. */
export function atTerminal(line: string, answers: readonly Answer[], request: SvcRequest): Promise<Screen> {
  const cwd = request.cwd === undefined ? {} : { cwd: request.cwd };
  return new Promise((resolve, reject) => {
    const child = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
      env: environment(request),
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      ...cwd,
    });
    const pending = [...answers];
    let text = "";
    let looked = 0;
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const [next] = pending;
      if (next === undefined || !text.slice(looked).includes(next[0])) return;
      looked = text.length;
      pending.shift();
      // Typed as a person would: with the key Enter, after the prompt has appeared.
      child.stdin.write(`${next[1]}\r`);
    });
    child.once("error", reject);
    child.once("close", (code) => {
      const screen = text.replaceAll("\r\n", "\n");
      const [left] = pending;
      if (left === undefined) resolve({ code: code ?? undefined, text: screen });
      else reject(new Error(`nobody asked for "${left[0]}":\n${screen}`));
    });
  });
}
