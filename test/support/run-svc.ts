import { spawn } from "node:child_process";
import { buildOnce, MAIN } from "./build.ts";

export interface SvcRequest {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input, which then ends; without it there is none. */
  readonly input?: string;
  readonly cwd?: string;
  readonly timeoutMs?: number;
  /** Flags of Node.js itself, for example to take a profile. */
  readonly nodeFlags?: readonly string[];
  /** The path of another build of the program. */
  readonly main?: string;
  /** Words before the program: where it runs, such as `nsenter` and its flags. */
  readonly prefix?: readonly string[];
}

export interface SvcResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Exit code; undefined when a signal ended the command. */
  readonly code: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 120_000;

/** Runs one command line to its end, as a user's shell would. */
export async function runSvc(args: readonly string[], request: SvcRequest = {}): Promise<SvcResult> {
  await buildOnce();
  const { input, cwd, timeoutMs = DEFAULT_TIMEOUT_MS } = request;
  return new Promise((resolve, reject) => {
    const [program, words] = programOf(args, request);
    const child = spawn(program, words, {
      env: environment(request),
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
      ...(cwd === undefined ? {} : { cwd }),
    });
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ stdout, stderr, code: code ?? undefined }));
    // A command may refuse before it has read everything.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/** The program of a command line, and its words. */
export function programOf(
  args: readonly string[],
  { nodeFlags = [], main = MAIN, prefix = [] }: SvcRequest,
): [program: string, words: string[]] {
  const [program = "", ...words] = [...prefix, process.execPath, ...nodeFlags, main, ...args];
  return [program, words];
}

/** Like `runSvc`; throws with the command's own words unless its exit code is 0. Returns standard output. */
export async function svcOk(args: readonly string[], request: SvcRequest = {}): Promise<string> {
  const { stdout, stderr, code } = await runSvc(args, request);
  if (code !== 0) throw new Error(`svc ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

/** Keeps the nodes of tests from using the same default port of gRPC. */
const NO_MEETING = { SVC_GRPC_ADDRESS: "tcp://127.0.0.1:0" };

/** No setting of the developer's shell reaches a test. */
export function environment({ home, env }: Pick<SvcRequest, "home" | "env">): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("SVC_") && !name.startsWith("NODE_"));
  const kept = Object.fromEntries(own.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  return { ...kept, ...NO_MEETING, ...(home === undefined ? {} : { SVC_HOME: home }), ...env };
}
