import { parseDurationMs } from "../util/index.ts";
import { usageError } from "./errors.ts";
import type { Flags } from "./flags.ts";

/** Milliseconds of a flag that takes a duration above zero. */
export function durationFlag(flags: Flags, name: string): number {
  const text = flags.text(name);
  const ms = parseDurationMs(text);
  if (ms !== undefined && ms > 0) return ms;
  throw usageError(`${flags.label(name)} takes a duration such as 30s, 5m or 1h30m, not "${text}"`);
}
