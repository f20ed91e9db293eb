import type { DriverTiming } from "../context.ts";

/**
 * When to correct a lease that another program has changed: at once the first time, and later each time that it happens
 * again soon, so that a controller that keeps changing it costs few calls.
 */
export class Quarrel {
  readonly #timing: Pick<DriverTiming, "retry" | "maxRetry">;
  readonly #right: () => void;
  #wait = 0;
  #last = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(timing: Pick<DriverTiming, "retry" | "maxRetry">, right: () => void) {
    this.#timing = timing;
    this.#right = right;
  }

  /** Milliseconds until the lease is put right; 0 where that is at once, or was promised before. */
  answer(): number {
    if (this.#timer !== undefined) return 0;
    const { retry, maxRetry } = this.#timing;
    const isQuiet = performance.now() - this.#last > 2 * maxRetry;
    this.#wait = isQuiet ? 0 : Math.min(Math.max(2 * this.#wait, retry), maxRetry);
    if (this.#wait === 0) this.#now();
    else this.#timer = setTimeout(() => this.#now(), this.#wait);
    this.#timer?.unref();
    return this.#wait;
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #now(): void {
    this.#timer = undefined;
    this.#last = performance.now();
    this.#right();
  }
}
