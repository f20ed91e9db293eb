/** A burst, and a rate per second after it. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** What is left of a rate (a token bucket); the caller gives the time in milliseconds. */
export class Allowance {
  readonly #rate: Rate;
  #left: number;
  #at: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#at = now;
  }

  /** Takes one; false if there is none. */
  take(now: number): boolean {
    this.#refill(now);
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Whether the bucket is full again. */
  isFull(now: number): boolean {
    this.#refill(now);
    return this.#left >= this.#rate.burst;
  }

  /** Milliseconds until one can be taken. */
  wait(now: number): number {
    this.#refill(now);
    return this.#left >= 1 ? 0 : Math.ceil(((1 - this.#left) * 1000) / this.#rate.perSecond);
  }

  #refill(now: number): void {
    const gained = (Math.max(0, now - this.#at) * this.#rate.perSecond) / 1000;
    this.#left = Math.min(this.#rate.burst, this.#left + gained);
    this.#at = now;
  }
}
