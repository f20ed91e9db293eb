/** Nanoseconds since 1970 as the engine writes them: UTC, as many fraction digits as are needed. */

const MILLISECOND = 1_000_000n;
const SECOND = 1_000_000_000n;
const PATTERN = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** `2026-11-21T17:15:43.241593549Z`; trailing zeros of the fraction are left out. */
export function formatRfc3339(time: bigint): string {
  const fraction = ((time % SECOND) + SECOND) % SECOND;
  const seconds = formatSeconds(time);
  if (fraction === 0n) return seconds;
  return `${seconds.slice(0, -1)}.${fraction.toString().padStart(9, "0").replace(/0+$/, "")}Z`;
}

/** `2026-11-21T17:15:43Z`, cut to the second. */
export function formatSeconds(time: bigint): string {
  const fraction = ((time % SECOND) + SECOND) % SECOND;
  return new Date(Number((time - fraction) / MILLISECOND)).toISOString().replace(".000Z", "Z");
}

/** Reads a time of any zone; throws one clear sentence. */
export function parseRfc3339(text: string): bigint {
  const [, seconds, fraction = "", zone] = PATTERN.exec(text) ?? [];
  const milliseconds = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(milliseconds)) {
    throw new Error(`invalid time "${text.slice(0, 60)}": write it like 2026-11-21T17:15:43Z`);
  }
  return BigInt(milliseconds) * MILLISECOND + BigInt(fraction.padEnd(9, "0"));
}
