import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";

const NANOS = 1_000_000_000n;
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const DURATION = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;
/** `1h30m`, `1m30s`, `1.5h`: one part or more, the larger unit first or not. */
const IN_UNITS = /^-?(?:\d{1,12}(?:\.\d{1,9})?(?:h|ms|m|s|us|µs|ns))+$/;
const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  h: 3600n * NANOS,
  m: 60n * NANOS,
  s: NANOS,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n,
  ns: 1n,
};
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/** Seconds and nanoseconds since 1970 (UTC), both parts as the wire has them. */
export type Instant = Pick<Timestamp, "seconds" | "nanos">;

/** RFC 3339 in UTC, the fraction without trailing zeros: `2026-01-02T03:04:05.5Z`. */
export function formatTimestamp(time: Instant): string {
  return formatInstant(time, digits(BigInt(time.nanos)).replace(/0+$/, ""));
}

/** The same in proto JSON, where a fraction has three, six or nine places: `2026-01-02T03:04:05.500Z`. */
export function formatProtoTimestamp(time: Instant): string {
  return formatInstant(time, inThrees(BigInt(time.nanos)));
}

function formatInstant(time: Instant, fraction: string): string {
  const { year, month, day } = civil(floorDiv(time.seconds, 86_400n));
  const second = Number(time.seconds - floorDiv(time.seconds, 86_400n) * 86_400n);
  const clock = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60].map(pad2).join(":");
  return `${String(year).padStart(4, "0")}-${pad2(month)}-${pad2(day)}T${clock}${fraction === "" ? "" : `.${fraction}`}Z`;
}

/** Reads RFC 3339 with any offset; undefined where the text is not such a time. */
export function parseTimestamp(text: string): Instant | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const days = daysSince1970(year, month, day);
  const { month: realMonth, day: realDay } = civil(days);
  if (realMonth !== month || realDay !== day || hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)) * (match[8] === "-" ? -60 : 60);
  const seconds = days * 86_400n + BigInt(hour * 3600 + minute * 60 + second - offset);
  return { seconds, nanos: Number((match[7] ?? "").padEnd(9, "0")) };
}

/** Nanoseconds since 1970. */
export function toNanos(time: Instant): bigint {
  return time.seconds * NANOS + BigInt(time.nanos);
}

export function fromNanos(nanos: bigint): Instant {
  const seconds = floorDiv(nanos, NANOS);
  return { seconds, nanos: Number(nanos - seconds * NANOS) };
}

/** `86400s`, `1.500s`: a fraction has three, six or nine places. */
export function formatDuration(duration: Pick<Duration, "seconds" | "nanos">): string {
  const total = duration.seconds * NANOS + BigInt(duration.nanos);
  const size = total < 0n ? -total : total;
  const fraction = inThrees(size % NANOS);
  return `${total < 0n ? "-" : ""}${size / NANOS}${fraction === "" ? "" : `.${fraction}`}s`;
}

/** Reads `3.5s`, or `1m30s` as the ecosystem's files have it; undefined where the text is not a duration. */
export function parseDuration(text: string): Pick<Duration, "seconds" | "nanos"> | undefined {
  const match = DURATION.exec(text);
  if (match === null) return IN_UNITS.test(text) ? inUnits(text) : undefined;
  const sign = match[1] === "-" ? -1n : 1n;
  const nanos = Number((match[3] ?? "").padEnd(9, "0"));
  return { seconds: sign * BigInt(match[2] ?? 0), nanos: nanos === 0 ? 0 : Number(sign) * nanos };
}

function inUnits(text: string): Pick<Duration, "seconds" | "nanos"> {
  let total = 0n;
  for (const [, whole = "0", fraction = "", unit = "s"] of text.matchAll(/(\d+)(?:\.(\d+))?([a-zµ]+)/g)) {
    const value = BigInt(whole) * NANOS + BigInt(fraction.padEnd(9, "0"));
    // Digits below a nanosecond are cut off, as in the reference.
    total += (value * (UNIT_NANOS[unit] ?? 0n)) / NANOS;
  }
  if (text.startsWith("-")) total = -total;
  return { seconds: total / NANOS, nanos: Number(total % NANOS) };
}

function digits(nanos: bigint): string {
  return nanos.toString().padStart(9, "0");
}

function inThrees(nanos: bigint): string {
  return digits(nanos).replace(/(000)+$/, "");
}

function pad2(value: number): string {
  return String(value).padStart(2, "0");
}

function floorDiv(a: bigint, b: bigint): bigint {
  return a >= 0n ? a / b : -((-a + b - 1n) / b);
}

/** Days from 1970-01-01 to a date of the Gregorian calendar. */
function daysSince1970(year: number, month: number, day: number): bigint {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400) - 477;
  const inYear = (DAYS_BEFORE_MONTH[month - 1] ?? 0) + (isLeap && month > 2 ? 1 : 0) + day - 1;
  return BigInt((year - 1970) * 365 + leapDays + inYear);
}

/** The date of a day number; the inverse of `daysSince1970`. */
function civil(days: bigint): { year: number; month: number; day: number } {
  const number = Number(days);
  let year = 1970 + Math.floor(number / 365.2425);
  while (Number(daysSince1970(year + 1, 1, 1)) <= number) year += 1;
  while (Number(daysSince1970(year, 1, 1)) > number) year -= 1;
  let month = 12;
  while (Number(daysSince1970(year, month, 1)) > number) month -= 1;
  return { year, month, day: number - Number(daysSince1970(year, month, 1)) + 1 };
}
