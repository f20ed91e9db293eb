import type { Clock } from "../../../src/util/index.ts";

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now: number;
  #timers: { at: number; task: () => void }[] = [];

  /** Starts at a time in nanoseconds since 1970, as in genesis files; the clock ticks in milliseconds. */
  constructor(start: bigint) {
    this.#now = Number(start / 1_000_000n);
  }

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, task: () => void): () => void {
    const timer = { at: this.#now + milliseconds, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves on and calls the timers that fall due, in order. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      if (due.at > this.#now) this.#now = due.at;
      due.task();
    }
    this.#now = end;
  }

  /** Lets time pass without calling any timer, as in a busy process. */
  skip(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
