import { execFile } from "node:child_process";

/** Administration tools live outside of an ordinary user's path. */
const PATH = `${process.env.PATH ?? ""}:/usr/sbin:/sbin:/usr/bin:/bin`;
const TIMEOUT_MS = 30_000;
/** Maximum output of a tool: some hosts have a hundred thousand rules. */
const MAX_OUTPUT = 1 << 26;

/** The end of a host tool: its exit code, if there is one, and its output. */
interface CommandEnd {
  readonly code: number | undefined;
  readonly output: string;
}

/** A host tool that failed; the message holds its own words. */
export class CommandError extends Error {
  readonly code: number | undefined;
  readonly output: string;

  constructor(tool: string, text: string, { code, output }: CommandEnd) {
    super(`${tool}: ${text.replaceAll(/\s+/g, " ").trim().slice(0, 300)}`);
    this.name = "CommandError";
    this.code = code;
    this.output = output;
  }
}

/** Runs a host tool without a shell; resolves with its standard output. */
export function run(tool: string, args: readonly string[], input?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env: { PATH, LC_ALL: "C" }, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT };
    const child = execFile(tool, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const missing = error.code === "ENOENT";
      const text = missing ? "not installed" : stderr.trim() === "" ? error.message : stderr;
      const code = typeof error.code === "number" ? error.code : undefined;
      reject(new CommandError(tool, text, { code, output: stdout }));
    });
    // A tool that ends without reading its input is judged only by its exit code.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
