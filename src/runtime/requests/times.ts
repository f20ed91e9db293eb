import { type ErrorFactory, sdkErrors } from "../../util/index.ts";
import { type Instant, toNanos } from "../../wire/index.ts";

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z: the range of points in time on the wire. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;
const SECOND = 1_000_000_000;

/** The nanoseconds since 1970 of a point in time of a message. Throws the given error if it is not a valid time. */
export function readTime(field: string, time: Instant, refuse: ErrorFactory = sdkErrors.invalidRequest): bigint {
  const { seconds, nanos } = time;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos >= SECOND)
    throw refuse(`${field}: not a time of the years 1 to 9999`);
  return toNanos(time);
}
