import { readlinkSync } from "node:fs";
import { readFileText } from "../../../util/index.ts";

const MAX_BYTES = 200;
const NANOSECONDS_A_MS = 1e6;

/** Where Linux reports on the calling thread; undefined elsewhere. */
export function thisThread(): string | undefined {
  try {
    return `/proc/${readlinkSync("/proc/thread-self")}`;
  } catch {
    return undefined;
  }
}

/**
 * Milliseconds for which a thread of this process has had a core; undefined where the system does not report it, or the
 * thread has ended.
 */
export function coreMs(thread: string | undefined): number | undefined {
  if (thread === undefined) return undefined;
  try {
    const ms = Number(readFileText(`${thread}/schedstat`, { maxBytes: MAX_BYTES }).split(" ")[0]) / NANOSECONDS_A_MS;
    return Number.isFinite(ms) ? ms : undefined;
  } catch {
    return undefined;
  }
}
