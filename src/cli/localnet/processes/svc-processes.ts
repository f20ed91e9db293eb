import { spawn } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { commandError } from "../../errors.ts";
import { SUPERVISED } from "../../terminal/signals.ts";
import { recordProcess } from "./left.ts";
import { type Child, supervise } from "./processes.ts";

export interface SvcProcessesOptions {
  /** Has the log files. */
  readonly home: string;
  readonly runDir: string;
  /** Whether the home stays when the localnet stops. */
  readonly isKept: () => boolean;
  readonly signal: AbortSignal;
}

/** A process of `svc` that is started again whenever it ends. */
export interface Restarted {
  readonly name: string;
  readonly words: readonly string[];
  /** The line by which it says that it serves. */
  readonly ready: RegExp;
  /** Called with its end, and with the process that takes its place. */
  readonly onEnd: (how: string) => void;
  readonly onRestart: (child: Child) => void;
}

const START_MS = 60_000;
/** Time for the children of a killed process to end. */
const RESTART_MS = 1_000;

/** The nodes and providers of a localnet: processes of this program. */
export class SvcProcesses {
  readonly #options: SvcProcessesOptions;
  readonly #running = new Map<string, Child>();
  #isStopping = false;

  constructor(options: SvcProcessesOptions) {
    this.#options = options;
  }

  start(name: string, words: readonly string[]): Child {
    const main = process.argv[1] ?? "";
    const child = spawn(process.execPath, [main, ...words], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
      env: { ...process.env, [SUPERVISED]: "1" },
    });
    if (child.pid !== undefined) recordProcess(this.#options.runDir, { name, pid: child.pid });
    const supervised = supervise(name, child, this.#logFile(name));
    this.#running.set(name, supervised);
    return supervised;
  }

  /** Waits for the line by which a process says that it serves. */
  async ready(child: Child, line: RegExp): Promise<void> {
    const { signal } = this.#options;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
    const tooLate = new Promise<"too late">((resolve) => {
      patience.addEventListener("abort", () => resolve("too late"), { once: true });
    });
    const outcome = await Promise.race([child.waitFor(line), tooLate]);
    signal.throwIfAborted();
    if (outcome !== "too late") return;
    const hint = `see ${this.#savedLog(child.name)}`;
    throw commandError(`the ${child.name} did not start within ${START_MS / 1000} s`, { hint });
  }

  /** Rejects when a process ends unexpectedly. */
  async untilEnd(name: string): Promise<void> {
    const child = this.#need(name);
    const how = await child.ended;
    if (this.#isStopping) return;
    const words = child.lastWords === "" ? "" : `: ${child.lastWords}`;
    throw commandError(`the ${name} ended unexpectedly (${how})${words}`, { hint: `see ${this.#savedLog(name)}` });
  }

  /** Starts a process again whenever it ends. Rejects when it does not serve again. */
  async keepRunning({ name, words, ready, onEnd, onRestart }: Restarted): Promise<void> {
    while (!this.#isStopping) {
      const how = await this.#need(name).ended;
      if (this.#isStopping) return;
      onEnd(how);
      await pause(RESTART_MS);
      if (this.#isStopping) return;
      const child = this.start(name, words);
      await this.ready(child, ready);
      onRestart(child);
    }
  }

  /** Stops processes at the same time; none is started again. */
  async stop(names: readonly string[]): Promise<void> {
    this.#isStopping = true;
    await Promise.all(names.map((name) => this.#running.get(name)?.stop()));
  }

  #need(name: string): Child {
    const child = this.#running.get(name);
    if (child === undefined) throw new Error(`the ${name} was not started`);
    return child;
  }

  #logFile(name: string): string {
    return join(this.#options.home, `${name}.log`);
  }

  /** The log of a process that failed, in a place that survives the removal of the home. */
  #savedLog(name: string): string {
    const file = this.#logFile(name);
    if (this.#options.isKept() || !existsSync(file)) return file;
    const saved = `${this.#options.home}-${name}.log`;
    copyFileSync(file, saved);
    return saved;
  }
}
