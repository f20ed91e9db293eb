import type { Health } from "../cluster/index.ts";

/** When an unhealthy lease is given up. */
export interface HealthLimits {
  /** The lease is given up only after more bad checks in a row than this. */
  readonly retries: number;
  /** Milliseconds that it must have been bad for, not counting times in which the check was impossible. */
  readonly graceMs: number;
}

/** Result of successive checks of a lease. */
export interface HealthCount {
  readonly bad: number;
  readonly badMs: number;
  /** Time of the last check if it was bad. */
  readonly lastBad: number | undefined;
}

export const HEALTHY: HealthCount = { bad: 0, badMs: 0, lastBad: undefined };

/** Takes one check into account. `unknown` proves nothing: neither it nor the time around it counts. */
export function countHealth(count: HealthCount, health: Health, now: number): HealthCount {
  if (health === "ok") return HEALTHY;
  if (health === "unknown") return { ...count, lastBad: undefined };
  const since = count.lastBad === undefined ? 0 : Math.max(0, now - count.lastBad);
  return { bad: count.bad + 1, badMs: count.badMs + since, lastBad: now };
}

/** Whether the lease has been bad often and long enough. */
export function isGivenUp(count: HealthCount, limits: HealthLimits): boolean {
  return count.bad > limits.retries && count.badMs >= limits.graceMs;
}
