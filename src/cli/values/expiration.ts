import { fromNanos, type Instant, parseTimestamp, toNanos } from "../../wire/index.ts";
import type { Flags } from "../command/flags.ts";
import { usageError } from "../errors.ts";

const NANOS_PER_MS = 1_000_000n;
/** The last second that a timestamp can hold: the end of the year 9999. */
export const LAST_SECOND = 253_402_300_799n;

/** `--expiration`: a time, or seconds since 1970; undefined for none, which 0 also means. */
export function readExpiration(flags: Flags, nowMs: number): Instant | undefined {
  const text = flags.text("expiration");
  if (text === "" || text === "0") return undefined;
  const time = /^\d{1,12}$/.test(text) ? { seconds: BigInt(text), nanos: 0 } : parseTimestamp(text);
  if (time === undefined || time.seconds > LAST_SECOND) {
    throw usageError(
      `${flags.label("expiration")} takes a time such as 2027-01-31T12:00:00Z or seconds since 1970, not "${text.slice(0, 64)}"`,
    );
  }
  if (toNanos(time) > BigInt(nowMs) * NANOS_PER_MS) return time;
  throw usageError(`${flags.label("expiration")}: ${text} is in the past`, "give a time in the future");
}

/** A time that lies some seconds after a moment. */
export function secondsLater(nowMs: number, seconds: bigint): Instant {
  return fromNanos(BigInt(nowMs) * NANOS_PER_MS + seconds * 1000n * NANOS_PER_MS);
}
