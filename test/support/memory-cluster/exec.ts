import type { ExecRequest, ExecSession } from "../../../src/provider/cluster/contract/index.ts";
import { LineQueue } from "../../../src/provider/cluster/shared/index.ts";
import { runProgram } from "./shell.ts";

type Output = { readonly stream: "stdout" | "stderr"; readonly data: Uint8Array };

/** Runs a command of the little shell as a session of the contract. */
export function memoryExec(request: ExecRequest): ExecSession {
  const output = new LineQueue<Output>();
  const input = new LineQueue<Uint8Array>();
  const abort = new AbortController();
  if (!request.stdin) input.end();
  const write = (stream: Output["stream"], text: string) => void output.push({ stream, data: Buffer.from(text) });
  const program = runProgram(request.command, { write, input, env: new Map(), signal: abort.signal });
  return {
    write: (data) => input.push(data),
    endInput: () => input.end(),
    resize: async () => {},
    kill: () => {
      abort.abort();
      input.end();
    },
    output,
    exitCode: program.finally(() => output.end()),
  };
}
