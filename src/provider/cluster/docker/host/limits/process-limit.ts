import { readFileSync } from "node:fs";

const MOST = 1 << 22;
/** Bit of the capability with which limits may be raised. */
const SYS_RESOURCE = 24n;

/**
 * The limit on processes of a user. The kernel counts those of all containers together where users have the same id: a limit
 * as low as that of one container would let one tenant keep another's programs from starting. Each container has its own limit
 * beside it; this one is as high as this process may set it.
 */
export function processesOfUser(limits = "/proc/self/limits"): number {
  return hardLimit("Max processes", limits);
}

/**
 * Timers and signals that may wait, counted in the same way. Containers have no limit of their own for them but their memory: this
 * one is so high that a tenant comes to the end of that first.
 */
export function signalsOfUser(folder = "/proc/self"): number {
  const [, capabilities = "0"] = /^CapEff:\s+([0-9a-f]+)/m.exec(readFileSync(`${folder}/status`, "utf8")) ?? [];
  if (((BigInt(`0x${capabilities}`) >> SYS_RESOURCE) & 1n) === 1n) return MOST;
  return hardLimit("Max pending signals", `${folder}/limits`);
}

function hardLimit(name: string, limits: string): number {
  const row = readFileSync(limits, "utf8")
    .split("\n")
    .find((each) => each.startsWith(name));
  const [, hard = ""] = row?.slice(name.length).trim().split(/\s+/) ?? [];
  return /^\d+$/.test(hard) ? Math.min(Number(hard), MOST) : MOST;
}
