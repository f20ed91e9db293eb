import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { runProgram } from "../../src/cli/program.ts";
import { createIo } from "../../src/cli/terminal/io.ts";
import { environment, runSvc, type SvcRequest, type SvcResult } from "../support/run-svc.ts";
import { IS_NIGHT } from "../support/runs.ts";

/** Result of a command line. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  /** Standard input; it ends behind this text. */
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the input seems to be a terminal: prompts are shown then. */
  readonly isTTY?: boolean;
  /** Width of the terminal that the output seems to be. */
  readonly columns?: number;
}

/** No command line of a test sees the home of the developer who runs it. */
const NO_HOME = join(tmpdir(), "svc-test-without-home");

/** Runs a command line in this process, with its own streams and environment. */
export async function runCli(
  argv: readonly string[],
  { input = "", env = {}, isTTY = false, columns }: RunOptions = {},
): Promise<Ran> {
  const written = { out: "", err: "" };
  const stream = Object.assign(new PassThrough(), { isTTY });
  stream.end(input);
  const io = createIo({
    input: stream,
    output: {
      write: (text: string) => (written.out += text),
      ...(columns === undefined ? {} : { isTTY: true, columns }),
    },
    error: { write: (text: string) => (written.err += text) },
  });
  const code = await runProgram(argv, { io, env: { SVC_HOME: NO_HOME, ...env } });
  return { code, ...written };
}

type Here = Pick<SvcRequest, "home" | "env" | "input">;

/** Runs a command line in this process, which takes a tenth of the work; at night with the built program, in its own process. */
export async function runSvcHere(args: readonly string[], request: Here = {}): Promise<SvcResult> {
  if (IS_NIGHT) return runSvc(args, request);
  const { code, out, err } = await runCli(args, { input: request.input ?? "", env: environment(request) });
  return { code, stdout: out, stderr: err };
}

/** Like `runSvcHere`; throws with the command's own words unless its exit code is 0. Returns standard output. */
export async function svcHereOk(args: readonly string[], request: Here = {}): Promise<string> {
  const { code, stdout, stderr } = await runSvcHere(args, request);
  if (code !== 0) throw new Error(`svc ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}
