import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** By how much the objects in use may grow, in percent, before the next collection of those no longer in use. */
const GROWTH_PERCENT = 100;
/** Bytecode of other functions that V8 copies into one that it optimizes; by itself up to 920. */
const INLINED_BYTECODE = 300;

/**
 * Bounds the memory of objects that are no longer in use. By default V8 lets a heap grow to four times the objects in
 * use, which a few large blocks or answers can leave behind, how much of it depending on the moment. This holds for all
 * threads of the process, for its whole life.
 */
export function boundGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/**
 * Makes V8 copy less of other functions into each that it optimizes. The work of a node is spread over a thousand
 * functions, and V8 optimizes each of them with much of those that it calls: in the first minutes of a node, that costs
 * up to a third of its processor time, and gains nothing later. This holds for all threads of the process.
 */
export function limitInlining(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTECODE}`);
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
