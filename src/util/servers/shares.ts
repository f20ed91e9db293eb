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
