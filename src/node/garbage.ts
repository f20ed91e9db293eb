import { setFlagsFromString } from "node:v8";

/** By how much the objects in use may grow, in percent, before they are looked through for what is in use no longer. */
const GROWTH_PERCENT = 100;

/**
 * Bounds what the process holds of objects that nobody uses. By itself V8 lets a heap grow to four times what is in use; so
 * much is left behind by a few large blocks or answers, and how much of it depends on the moment. For all threads of the
 * process, and for all its time.
 */
export function boundGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
