import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { build } from "esbuild";
import { waitFor } from "../../support/index.ts";
import type { FloodOrder, FloodQuestion, FloodState } from "./flood-process.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

/** Bundles a program for a process of its own. */
export async function bundle(entry: string, outfile: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "error",
  });
}

/** A folder for such programs, from which they find the packages. */
export function programFolder(): string {
  const folder = join(ROOT, "node_modules", ".cache");
  mkdirSync(folder, { recursive: true });
  return mkdtempSync(join(folder, "flood-"));
}

const PROGRAM = "flood.mjs";

interface Flooding {
  readonly child: ChildProcess;
  readonly lines: Interface;
}

/** Floods from a process of their own, one at a time. */
export class Flooder {
  readonly #folder: string;
  #flooding: Flooding | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<Flooder> {
    const folder = programFolder();
    await bundle("test/attack/lib/flood-process.ts", join(folder, PROGRAM));
    return new Flooder(folder);
  }

  /** Path of the process's program. */
  get program(): string {
    return join(this.#folder, PROGRAM);
  }

  /** Starts the process; returns its replica's address, and a function that begins the flood. */
  async start(): Promise<{ readonly replica: string; readonly begin: (order: FloodOrder) => void }> {
    const child = spawn(process.execPath, [this.program], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout });
    this.#flooding = { child, lines };
    const [line] = (await once(lines, "line")) as [string];
    return { replica: `127.0.0.1:${line}`, begin: (order) => this.#tell(order) };
  }

  /** Answers that the flood received between two moments of `clockMs`, and its state. */
  async state(from = 0, to = Number.MAX_SAFE_INTEGER): Promise<FloodState> {
    const answered = once(this.#running.lines, "line");
    this.#tell({ from, to });
    const [line] = (await answered) as [string];
    return JSON.parse(line) as FloodState;
  }

  /** Waits until so many connections have been let in, and so many rounds served. */
  async isUnderWay(connections: number, rounds: number): Promise<void> {
    const isBusy = async () => {
      const { begun, served } = await this.state();
      return begun >= connections && served >= rounds;
    };
    await waitFor(isBusy, "the flood to be under way", { timeoutMs: 240_000 });
  }

  async end(): Promise<void> {
    const flooding = this.#flooding;
    if (flooding === undefined) return;
    this.#flooding = undefined;
    const ended = once(flooding.child, "exit");
    flooding.child.kill("SIGKILL");
    await ended;
  }

  async close(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #running(): Flooding {
    if (this.#flooding === undefined) throw new Error("no flood was started");
    return this.#flooding;
  }

  #tell(line: FloodOrder | FloodQuestion): void {
    this.#running.child.stdin?.write(`${JSON.stringify(line)}\n`);
  }
}
