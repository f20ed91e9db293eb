import type { TimedLine } from "../api/logs.ts";

/** Engines ask for whole seconds. A line that began in the one before is told from a new one by its beginning. */
export function sinceQuery(since: number | undefined): { readonly since?: number } {
  return since === undefined ? {} : { since: Math.max(0, Math.floor(since / 1000) - 1) };
}

/** Whether a line was begun at that time (milliseconds) or later, as far as its engine tells: some tell whole seconds only. */
export function isFrom({ time }: TimedLine, since = 0): boolean {
  return time >= (Number.isInteger(time) ? Math.floor(since / 1000) : since / 1000);
}
