import type { HealthLimits } from "./health.ts";
import type { MonitorTimes } from "./world.ts";

/**
 * A lease that does not work is given up after more than 40 bad looks in a row and two hours: a tenant who is fixing a
 * crash keeps the lease.
 */
export const DEFAULT_MONITOR: MonitorTimes & HealthLimits = {
  periodMs: 10_000,
  periodJitterMs: 5_000,
  retryMs: 4_000,
  retryJitterMs: 15_000,
  retries: 40,
  graceMs: 7_200_000,
};
