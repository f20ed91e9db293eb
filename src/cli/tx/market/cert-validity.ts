import type { Validity } from "../../../certs/index.ts";
import { parseTimestamp, toNanos } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import { usageError } from "../../errors.ts";

const DAY_MS = 24 * 3600 * 1000;
const DEFAULT_DAYS = 365;
/** X.509 times have four digits for the year. */
const LAST_YEAR_MS = Date.UTC(9999, 11, 31);

/** `--nbf` and `--naf`: from when to when a certificate is valid; from now for a year when left out. */
export function readValidity(flags: Flags, nowMs: number): Validity {
  const begin = flags.optional("nbf");
  const end = flags.optional("naf");
  const notBefore = wholeSeconds(begin === undefined ? nowMs : readTime(begin, "nbf"));
  const notAfter = wholeSeconds(end === undefined ? notBefore + DEFAULT_DAYS * DAY_MS : readEnd(end, notBefore));
  if (notAfter <= notBefore) throw usageError("--naf: the certificate would end before it begins");
  if (notAfter <= nowMs) throw usageError("--naf: the certificate would have expired already");
  if (notAfter > LAST_YEAR_MS) throw usageError("--naf: the end is too far away");
  return { notBefore, notAfter };
}

function readEnd(text: string, notBefore: number): number {
  const days = /^(\d{1,6})d$/.exec(text)?.[1];
  return days === undefined ? readTime(text, "naf") : notBefore + Number(days) * DAY_MS;
}

function readTime(text: string, flag: string): number {
  const time = parseTimestamp(text);
  if (time !== undefined) return Number(toNanos(time) / 1_000_000n);
  const form = flag === "naf" ? "<n>d or a time such as 2027-01-31T12:00:00Z" : "a time such as 2027-01-31T12:00:00Z";
  throw usageError(`--${flag} takes ${form}, not "${text.slice(0, 64)}"`);
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
