/** Milliseconds of each unit in which durations are written. */
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** A timer cannot wait longer, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Milliseconds of `300ms`, `10s`, `1.5m`, `1h30m` or `1d`, at most the longest timer; `0s` is zero. Undefined if the
 * text is not a duration: the caller says which form it accepts.
 */
export function parseDurationMs(text: string): number | undefined {
  const parts = [...text.matchAll(PART)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) return undefined;
  const total = parts.reduce((sum, [, number = "", unit = ""]) => sum + Number(number) * (UNIT_MS.get(unit) ?? 0), 0);
  return Math.min(Math.round(total), MAX_TIMER_MS);
}
