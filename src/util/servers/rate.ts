import { Recent } from "../recent.ts";

/** Keys that are remembered; beyond twice as many, the least recently used start anew. */
const REMEMBERED = 5_000;

interface Spent {
  count: number;
  readonly at: number;
}

/** Lets each key do `burst` things at once and `perSecond` more every second. */
export class RateLimit {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #spent = new Recent<string, Spent>(REMEMBERED);

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
    return allowed;
  }

  /** Gives back what `take` took. */
  giveBack(key: string): void {
    const entry = this.#spent.get(key);
    if (entry !== undefined) entry.count = Math.max(0, entry.count - 1);
  }
}
