import { usageError } from "./errors.ts";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const MAX_MS = 2 ** 31 - 1;

/** Milliseconds of `300ms`, `10s`, `5m`, `1h30m` or `1d`. */
export function parseDuration(flag: string, text: string): number {
  const parts = [...text.matchAll(PART)];
  const total = parts.reduce((sum, [, number = "0", unit = "ms"]) => sum + Number(number) * (UNIT_MS[unit] ?? 0), 0);
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text || total <= 0) {
    throw usageError(`--${flag} takes a duration such as 30s, 5m or 1h30m, not "${text}"`);
  }
  return Math.min(Math.round(total), MAX_MS);
}
