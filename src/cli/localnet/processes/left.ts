import { appendFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { STOP_TIMEOUT_MS } from "./processes.ts";

/** Lists the processes of a localnet in its run folder, so that the next start finds them if this one is killed. */
const LIST = "processes";
const POLL_MS = 50;

/** A process of a localnet that was killed. */
export interface LeftProcess {
  readonly name: string;
  readonly pid: number;
}

/** Remembers a process with the time of its start: the system gives the number to another one later. */
export function recordProcess(runDir: string, { name, pid }: LeftProcess): void {
  const begun = beginningOf(pid);
  if (begun === undefined) return;
  appendFileSync(join(runDir, LIST), `${pid} ${begun} ${name}\n`, { mode: 0o600 });
}

/** Recorded processes that still run, in the order of their start, and an engine service on the folder's socket. */
export function leftProcesses(runDir: string): readonly LeftProcess[] {
  const recorded = readOrNothing(join(runDir, LIST)).split("\n").flatMap(livingProcess);
  const others = servicesOn(runDir).filter(({ pid }) => !recorded.some((each) => each.pid === pid));
  return [...others, ...recorded];
}

/** Ends leftover processes, the last one first, as a stop does. */
export async function endLeftProcesses(runDir: string): Promise<void> {
  for (const { pid } of leftProcesses(runDir).toReversed()) await endProcess(pid);
  rmSync(join(runDir, LIST), { force: true });
}

/** Resolves when the process is gone. */
async function endProcess(pid: number): Promise<void> {
  const begun = beginningOf(pid);
  const isGone = () => begun === undefined || beginningOf(pid) !== begun;
  if (isGone()) return;
  endGroup(pid, "SIGTERM");
  for (let waited = 0; waited < STOP_TIMEOUT_MS; waited += POLL_MS) {
    if (isGone()) return;
    await pause(POLL_MS);
  }
  endGroup(pid, "SIGKILL");
  while (!isGone()) await pause(POLL_MS);
}

/** A rootless Podman is two processes; the first leads their group. */
function endGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, signal);
      return;
    } catch {
      // It leads no group, or has just ended.
    }
  }
}

function livingProcess(line: string): LeftProcess[] {
  const [, pid = "", begun, name = ""] = /^(\d{1,10}) (\S+) (.+)$/.exec(line) ?? [];
  return pid !== "" && beginningOf(Number(pid)) === begun ? [{ name, pid: Number(pid) }] : [];
}

/** The boot and the clock tick at which a process started; undefined if it has ended. */
function beginningOf(pid: number): string | undefined {
  const stat = readOrNothing(`/proc/${pid}/stat`);
  // The name before the last parenthesis may hold anything; the state is the first field after it.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const tick = fields[18];
  if (tick === undefined || state === "X" || (state === "Z" && isAlone(pid))) return undefined;
  return `${readOrNothing("/proc/sys/kernel/random/boot_id").trim()}/${tick}`;
}

/** Whether a process has no thread beside its first one: another one may still hold its ports. */
function isAlone(pid: number): boolean {
  return namesIn(`/proc/${pid}/task`).length <= 1;
}

/** The socket of an engine service that a localnet starts. */
export function serviceSocket(runDir: string): string {
  return join(runDir, "podman.sock");
}

/** A service that was started just before its localnet was killed may not be recorded; its socket belongs to the folder. */
function servicesOn(runDir: string): readonly LeftProcess[] {
  const address = `unix://${serviceSocket(runDir)}`;
  return processIds().flatMap((pid) => {
    const words = readOrNothing(`/proc/${pid}/cmdline`).split("\0");
    return words.includes("service") && words.includes(address) ? [{ name: "container engine", pid }] : [];
  });
}

function processIds(): readonly number[] {
  return namesIn("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
