import { collectGarbage } from "../../util/index.ts";

const LOOK_EVERY_MS = 10_000;
/** What a thread may make from one look to the next and still count as calm. */
const CALM_BYTES = 16 * 1024 * 1024;
/** What it must have beyond what the last collection left, to be worth the time of the next one. */
const WORTH_BYTES = 32 * 1024 * 1024;

export interface CalmParts {
  /** Bytes that the objects of this thread take, those that nobody uses any more included. */
  readonly taken: () => number;
  readonly collect: () => void;
}

/** Gives back what a burst has left, once a thread is calm again: by itself V8 collects only while a program makes objects. */
export class CalmCollector {
  readonly #parts: CalmParts;
  #before: number;
  #left: number;

  constructor(parts: CalmParts = { taken: takenByThread, collect: collectGarbage }) {
    this.#parts = parts;
    this.#before = parts.taken();
    this.#left = this.#before;
  }

  /** Looks every so often until the function that it returns is called. */
  start(): () => void {
    const timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
    return () => clearInterval(timer);
  }

  look(): void {
    const { taken, collect } = this.#parts;
    const now = taken();
    const isCalm = now - this.#before < CALM_BYTES;
    this.#before = now;
    this.#left = Math.min(this.#left, now);
    if (!isCalm || now - this.#left < WORTH_BYTES) return;
    collect();
    this.#left = taken();
    this.#before = this.#left;
  }
}

function takenByThread(): number {
  // (What V8 says of all memory outside its heap is as old as its last collection.)
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
