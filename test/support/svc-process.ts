import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { buildOnce } from "./build.ts";
import { environment, programOf, type SvcRequest } from "./run-svc.ts";
import { PATIENCE_MS, waitFor } from "./wait.ts";

/** A line of a process's output. */
export interface LogLine {
  readonly text: string;
  /** `performance.now()` when the line came. */
  readonly at: number;
}

export interface StartRequest extends SvcRequest {
  /** File that collects the output of every process of this name. */
  readonly log: string;
}

const STOP_TIMEOUT_MS = 60_000;
const KEPT_LINES = 5_000;

/** A long-running command. Only this process is ever ended, by its id. */
export class SvcProcess {
  readonly args: readonly string[];
  readonly lines: LogLine[] = [];
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  /** It has ended, and everything that it printed is here. */
  #closed = false;

  private constructor(child: ChildProcess, args: readonly string[], log: string) {
    this.#child = child;
    this.args = args;
    this.#exit = once(child, "close")
      .catch(() => undefined)
      .then(() => {
        this.#closed = true;
      });
    for (const stream of [child.stdout, child.stderr]) this.#collect(stream, log);
  }

  static async start(args: readonly string[], request: StartRequest): Promise<SvcProcess> {
    await buildOnce();
    const { input, cwd, log } = request;
    const [program, words] = programOf(args, request);
    const child = spawn(program, words, {
      env: environment(request),
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      ...(cwd === undefined ? {} : { cwd }),
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    return new SvcProcess(child, args, log);
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error(`svc ${this.args.join(" ")} did not start`);
    return pid;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Everything that it has printed, the newest lines last. */
  get output(): string {
    return this.lines.map(({ text }) => text).join("\n");
  }

  /** Waits for a line; fails at once when the process ends before it comes. */
  async line(pattern: RegExp, timeoutMs = PATIENCE_MS): Promise<string> {
    const question = (): string | undefined => {
      const found = this.lines.find(({ text }) => pattern.test(text));
      return found?.text ?? (this.#closed ? "" : undefined);
    };
    const text = await waitFor(question, `${pattern} of svc ${this.args[0]}:\n${this.output}`, { timeoutMs });
    if (text === "") throw new Error(`svc ${this.args.join(" ")} ended: ${this.output}`);
    return text;
  }

  /** `kill -9`; resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.running) this.#child.kill("SIGKILL");
    await this.#exit;
  }

  /** Sends a signal, and resolves with the code or signal with which the process ended by itself. */
  async endsAfter(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.#child.kill(signal);
    await this.#exit;
    return this.#child.exitCode ?? this.#child.signalCode;
  }

  /** Asks it to end as Ctrl-C does, and returns its exit code; one that does not end is killed and fails the test. */
  async stop(): Promise<number | undefined> {
    if (this.running) this.#child.kill("SIGINT");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await this.#exit;
    clearTimeout(timer);
    const { exitCode, signalCode } = this.#child;
    if (signalCode === "SIGKILL")
      throw new Error(`svc ${this.args.join(" ")} did not stop: ${this.output.slice(-2000)}`);
    return exitCode ?? undefined;
  }

  #collect(stream: NodeJS.ReadableStream | null, log: string): void {
    let rest = "";
    stream?.setEncoding("utf8");
    stream?.on("data", (chunk: string) => {
      appendFileSync(log, chunk);
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const text of parts) this.lines.push({ text, at: performance.now() });
      if (this.lines.length > KEPT_LINES) this.lines.splice(0, this.lines.length - KEPT_LINES);
    });
  }
}
