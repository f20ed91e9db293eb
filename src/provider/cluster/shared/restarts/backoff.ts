/** Waits between restarts of a replica that keeps ending: milliseconds. */
export interface BackoffPolicy {
  /** Wait before the first restart. */
  readonly first: number;
  /** Wait before the second; doubles from there. */
  readonly initial: number;
  readonly max: number;
  /** A replica that ran this long starts afresh. */
  readonly resetAfter: number;
}

export const DEFAULT_BACKOFF: BackoffPolicy = {
  first: 1_000,
  initial: 10_000,
  max: 300_000,
  resetAfter: 600_000,
};

/** Wait in milliseconds before the restart that follows the given number of failures in a row (1 or more). */
export function restartDelay(failures: number, policy: BackoffPolicy): number {
  if (failures <= 1) return policy.first;
  return Math.min(policy.max, policy.initial * 2 ** Math.min(failures - 2, 30));
}
