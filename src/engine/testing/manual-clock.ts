import type { Clock } from "../embedded/clock.ts";

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now: bigint;
  #timers: { at: bigint; run: () => void }[] = [];

  constructor(start: bigint) {
    this.#now = start;
  }

  now(): bigint {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): { cancel(): void } {
    const timer = { at: this.#now + BigInt(milliseconds) * 1_000_000n, run };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  /** Moves on and calls what falls due, in order. */
  advance(milliseconds: number): void {
    const end = this.#now + BigInt(milliseconds) * 1_000_000n;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => Number(a.at - b.at))[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      if (due.at > this.#now) this.#now = due.at;
      due.run();
    }
    this.#now = end;
  }

  /** Lets time pass without calling anybody, as a busy process does. */
  skip(milliseconds: number): void {
    this.#now += BigInt(milliseconds) * 1_000_000n;
  }
}
