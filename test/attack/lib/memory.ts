import { readFileSync } from "node:fs";
import { waitFor } from "../../support/index.ts";

const MIB = 1024;

/** Resident memory of a process in MiB, as the kernel reports it (`VmRSS`). */
export function residentMiB(pid: number): number {
  return statusMiB(pid, "VmRSS");
}

/** The most that it has been since the process began (`VmHWM`). */
export function highestMiB(pid: number): number {
  return statusMiB(pid, "VmHWM");
}

function statusMiB(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / MIB);
}

/** Looks at a process's memory every so often and keeps the highest that it saw. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #highest = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), 50);
  }

  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#highest;
  }

  #look(): void {
    this.#highest = Math.max(this.#highest, residentMiB(this.#pid));
  }
}

/** Waits until a process has given back what it took beyond `limitMiB`: a minute at most. */
export async function memoryBack(pid: number, limitMiB: number): Promise<void> {
  const isBack = (): boolean => residentMiB(pid) <= limitMiB;
  await waitFor(isBack, `memory to go back to ${limitMiB} MiB`, { timeoutMs: 60_000, pollMs: 200 }).catch((error) => {
    throw new Error(`${error.message}; it is ${residentMiB(pid)} MiB`);
  });
}
