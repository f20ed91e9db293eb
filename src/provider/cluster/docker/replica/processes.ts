import { readFile } from "node:fs/promises";
import type { Observed } from "./observe.ts";

/** A process is gone a moment before the engine reports its end. */
const GRACE_MS = 5_000;

/**
 * Finds containers that run only according to the engine: the process that watches a container may die, and the engine
 * then never learns that the program has ended. Judges only if containers' processes are visible at all.
 */
export class Processes {
  readonly #missing = new Map<string, number>();
  #visible = false;

  /** Containers whose process has been gone for a while, and whether recently gone ones must be checked again. */
  async lost(
    units: readonly Observed[],
    now: number,
  ): Promise<{ gone: readonly Observed[]; lookAt: number | undefined }> {
    const running = units.filter(({ running: runs, pid }) => runs && pid > 1);
    const alive = await Promise.all(running.map(({ pid }) => isAlive(pid)));
    if (alive.includes(true)) this.#visible = true;
    if (!this.#visible) return { gone: [], lookAt: undefined };
    const missing = running.filter((_, index) => alive[index] === false);
    const keys = new Map(missing.map((unit) => [unit, `${unit.id}/${unit.pid}`]));
    for (const known of this.#missing.keys()) if (![...keys.values()].includes(known)) this.#missing.delete(known);
    for (const key of keys.values()) if (!this.#missing.has(key)) this.#missing.set(key, now);
    const gone = missing.filter((unit) => now - (this.#missing.get(keys.get(unit) ?? "") ?? now) >= GRACE_MS);
    return { gone, lookAt: missing.length > gone.length ? now + GRACE_MS : undefined };
  }

  /** Whether nothing runs in a container any more, whatever the engine last said. */
  async isGone({ running, pid }: Pick<Observed, "running" | "pid">): Promise<boolean> {
    return this.#visible && running && pid > 1 && !(await isAlive(pid));
  }
}

async function isAlive(pid: number): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    return !/\) [ZX] /.test(stat);
  } catch (error) {
    return !(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH"));
  }
}

/** Kills the program of a container from the host, where the process is there and its own; tells whether it did. */
export async function killProgram({ id, pid }: Pick<Observed, "id" | "pid">): Promise<boolean> {
  const groups = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
  if (!groups.includes(id)) return false;
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
