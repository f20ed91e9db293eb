import type { HealthCheck } from "../api/answers.ts";

/** Nanoseconds. */
const LEAST_INTERVAL = 30e9;

/**
 * The health check of an image, seldom enough: the engine starts a process on the host for each look, which no lease pays for,
 * and an image could ask for a thousand in a second.
 */
export function seldomChecked(check: HealthCheck | undefined): HealthCheck | undefined {
  const [kind = "NONE"] = check?.Test ?? [];
  if (kind === "NONE") return undefined;
  const interval = Math.max(check?.Interval ?? 0, LEAST_INTERVAL);
  return { ...check, Interval: interval, StartInterval: Math.max(check?.StartInterval ?? 0, LEAST_INTERVAL) };
}
