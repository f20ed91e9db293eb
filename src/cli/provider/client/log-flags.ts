import type { GatewayLogLine } from "../../../client/index.ts";
import { cleanLine, parseDurationMs, printable } from "../../../util/index.ts";
import type { FlagSpec } from "../../command/flag-spec.ts";
import type { Flags } from "../../command/flags.ts";
import { usageError } from "../../errors.ts";

/** Which lines, and how they are shown: `provider lease-logs` and `deploy logs`. */
export const LOG_FLAGS: readonly FlagSpec[] = [
  {
    name: "since",
    value: "<time>",
    summary: "only lines after a time such as 2026-01-31T12:00:00Z, or of the past such as 10m",
  },
  { name: "previous", summary: "lines of the previous run of each replica" },
  { name: "timestamps", summary: "begin each line with its time" },
];

/** The options that `LOG_FLAGS` set for the provider. */
export function logWishes(flags: Flags, now: number = Date.now()): { since: Date | undefined; previous: boolean } {
  const previous = flags.bool("previous");
  if (previous && flags.bool("follow")) {
    throw usageError("--previous and --follow cannot be used together: the previous run has ended");
  }
  return { since: flags.given("since") ? sinceOf(flags.text("since"), now) : undefined, previous };
}

function sinceOf(text: string, now: number): Date {
  const ago = parseDurationMs(text);
  if (ago !== undefined) return new Date(Math.max(0, now - ago));
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = isTime ? Date.parse(text) : Number.NaN;
  if (time >= 0) return new Date(time);
  throw usageError(`--since takes a time like 2026-01-31T12:00:00Z or a duration like 10m, not "${text}"`);
}

/** A line as one JSON object, or as text after a prefix that names its source. */
export function printLine(line: GatewayLogLine, from: string, flags: Flags): string {
  if (flags.text("output") === "json") return printable(JSON.stringify(line));
  const time = flags.bool("timestamps") && line.time !== undefined ? `${cleanLine(line.time)} ` : "";
  return `${from} ${time}${cleanLine(line.message)}`;
}
