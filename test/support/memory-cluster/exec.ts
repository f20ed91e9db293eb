import type { ExecRequest, ExecSession } from "../../../src/provider/cluster/contract/index.ts";
import { LineQueue } from "../../../src/provider/cluster/shared/index.ts";
import { runProgram } from "./shell.ts";

type Output = { readonly stream: "stdout" | "stderr"; readonly data: Uint8Array };

/** Runs a command of the little shell as a session of the contract; it is killed when its container ends. */
export function memoryExec(request: ExecRequest, container: AbortSignal): ExecSession {
  const output = new LineQueue<Output>();
  const input = new LineQueue<Uint8Array>();
  const abort = new AbortController();
  if (!request.stdin) input.end();
  const write = (stream: Output["stream"], text: string) => void output.push({ stream, data: Buffer.from(text) });
  const kill = (): void => {
    abort.abort();
    input.end();
  };
  container.addEventListener("abort", kill, { once: true });
  const program = runProgram(request.command, { write, input, env: new Map(), signal: abort.signal });
  return {
    write: (data) => input.push(data),
    endInput: () => input.end(),
    resize: async () => {},
    kill,
    output,
    exitCode: program.finally(() => {
      container.removeEventListener("abort", kill);
      output.end();
    }),
  };
}
