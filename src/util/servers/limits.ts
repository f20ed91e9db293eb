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

interface ShareLimits {
  /** The most that one owner may have. */
  readonly each: number;
  /** The most that all may have together. */
  readonly all?: number;
}

/** Counts how much of something each owner has, and gives no owner more than the limits. */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #owners = new Map<string, number>();
  #all = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Amount that the owner has. */
  of(owner: string): number {
    return this.#owners.get(owner) ?? 0;
  }

  /** Takes an amount; returns the function that gives it back, once. Undefined, and nothing is taken, above a limit. */
  take(owner: string, amount = 1): (() => void) | undefined {
    const { each, all = Number.POSITIVE_INFINITY } = this.#limits;
    if (this.of(owner) + amount > each || this.#all + amount > all) return undefined;
    this.#add(owner, amount);
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(owner, -amount);
      isTaken = false;
    };
  }

  #add(owner: string, amount: number): void {
    this.#all += amount;
    const has = this.of(owner) + amount;
    if (has > 0) this.#owners.set(owner, has);
    else this.#owners.delete(owner);
  }
}
