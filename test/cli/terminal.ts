import { PassThrough } from "node:stream";
import { runProgram } from "../../src/cli/program.ts";
import { createIo } from "../../src/cli/terminal/io.ts";

export interface TerminalSession {
  readonly code: number;
  /** The whole screen: standard output, standard error and typed text, with plain line ends. */
  readonly screen: string;
}

export interface Answer {
  /** Typed when this text appears. */
  readonly prompt: string;
  readonly text: string;
}

/** Runs a command line in this process as if a person at a terminal typed the answers, each at its prompt. */
export async function runTerminal(
  argv: readonly string[],
  answers: readonly Answer[],
  env: Readonly<Record<string, string>> = {},
): Promise<TerminalSession> {
  let screen = "";
  let raw = false;
  const pending = [...answers];
  const keyboard = new PassThrough();
  const show = (text: string): void => {
    screen += text;
    const [next] = pending;
    if (next === undefined || !text.includes(next.prompt)) return;
    pending.shift();
    // A terminal echoes typed text unless echo is off.
    setImmediate(() => {
      if (!raw) screen += `${next.text}\n`;
      keyboard.write(raw ? `${next.text}\r` : `${next.text}\n`);
    });
  };
  const input = Object.assign(keyboard, {
    isTTY: true,
    setRawMode(on: boolean) {
      raw = on;
    },
  });
  const io = createIo({ input, output: { write: show }, error: { write: show } });
  const code = await runProgram(argv, { io, env });
  keyboard.destroy();
  if (pending.length > 0) throw new Error(`nobody asked for ${JSON.stringify(pending[0]?.prompt)}:\n${screen}`);
  return { code, screen };
}
