/** Lets each key do `burst` things at once and `perSecond` more every second. */
export class RateLimit {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #spent = new Map<string, { count: number; at: number }>();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  /** Whether one more is allowed at the time `now` (milliseconds); it is counted if so. */
  take(key: string, now: number): boolean {
    const entry = this.#spent.get(key) ?? { count: 0, at: now };
    const count = Math.max(0, entry.count - ((now - entry.at) / 1000) * this.#perSecond);
    const allowed = count + 1 <= this.#burst;
    this.#spent.set(key, { count: allowed ? count + 1 : count, at: now });
    if (this.#spent.size > 10_000) this.#prune(now);
    return allowed;
  }

  /** Gives back what `take` took. */
  giveBack(key: string): void {
    const entry = this.#spent.get(key);
    if (entry !== undefined) entry.count = Math.max(0, entry.count - 1);
  }

  #prune(now: number): void {
    const idle = (this.#burst / this.#perSecond) * 1000;
    for (const [key, { at }] of this.#spent) if (now - at > idle) this.#spent.delete(key);
  }
}
