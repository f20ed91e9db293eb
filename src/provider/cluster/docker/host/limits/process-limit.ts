import { readFileSync } from "node:fs";

const MOST = 1 << 22;

/**
 * What a user may have of processes. The kernel counts those of all containers together where users have the same number: a limit
 * as low as that of one container would let one tenant keep another's programs from starting. Each container has its own limit
 * beside it; this one is as high as this process may set it.
 */
export function processesOfUser(limits = "/proc/self/limits"): number {
  const [, hard = ""] = /^Max processes\s+\S+\s+(\S+)/m.exec(readFileSync(limits, "utf8")) ?? [];
  return /^\d+$/.test(hard) ? Math.min(Number(hard), MOST) : MOST;
}
