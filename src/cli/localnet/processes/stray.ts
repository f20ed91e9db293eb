import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const PID_FILE = "podman.pid";
const PATIENCE_MS = 5000;
const POLL_MS = 50;

/** Remembers the engine service that was started, so that the next start finds it when this process is killed. */
export function recordService(runDir: string, pid: number): void {
  writeFileSync(join(runDir, PID_FILE), `${pid}\n`, { mode: 0o600 });
}

/**
 * Ends the engine service that a killed localnet left behind. Another process that happens to have its number is left
 * alone.
 */
export async function endStrayService(runDir: string, socket: string): Promise<void> {
  const pid = strayPid(runDir);
  if (pid === undefined || !servesSocket(pid, socket)) return;
  endGroup(pid, "SIGTERM");
  for (let waited = 0; waited < PATIENCE_MS; waited += POLL_MS) {
    await pause(POLL_MS);
    if (!servesSocket(pid, socket)) return;
  }
  endGroup(pid, "SIGKILL");
}

/** A rootless Podman is two processes; the first leads their group. */
function endGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-pid, signal);
  } catch {
    process.kill(pid, signal);
  }
}

function strayPid(runDir: string): number | undefined {
  const text = readOrNothing(join(runDir, PID_FILE)).trim();
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

function servesSocket(pid: number, socket: string): boolean {
  return readOrNothing(`/proc/${pid}/cmdline`).includes(socket);
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
