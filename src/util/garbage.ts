import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** By how much the objects in use may grow, in percent, before the next collection of those no longer in use. */
const GROWTH_PERCENT = 100;

/**
 * Bounds the memory of objects that are no longer in use. By default V8 lets a heap grow to four times the objects in
 * use, which a few large blocks or answers can leave behind, how much of it depending on the moment. This holds for all
 * threads of the process, for its whole life.
 */
export function boundGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

let collect: (() => void) | undefined;

/**
 * Gives the memory of objects that nobody uses back to the system. By itself V8 collects only while a program makes objects, so
 * what a burst has left stays until the next one.
 */
export function collectGarbage(): void {
  collect ??= exposed();
  collect();
}

function exposed(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
