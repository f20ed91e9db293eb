import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import type { FloodOrder } from "./flood-process.ts";

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

/** Floods from a process of their own, one at a time. */
export class Flooder {
  readonly #folder: string;
  #flooding: ChildProcess | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<Flooder> {
    const folder = programFolder();
    await bundle("test/attack/lib/flood-process.ts", join(folder, "flood.mjs"));
    return new Flooder(folder);
  }

  /** Starts the process; returns where its replica answers, and what begins the flood. */
  async start(): Promise<{ readonly replica: string; readonly begin: (order: FloodOrder) => void }> {
    const child = spawn(process.execPath, [join(this.#folder, "flood.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
    this.#flooding = child;
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return { replica: `127.0.0.1:${line}`, begin: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`) };
  }

  async end(): Promise<void> {
    const child = this.#flooding;
    if (child === undefined) return;
    this.#flooding = undefined;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async close(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
