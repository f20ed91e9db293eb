/** Milliseconds of the clock that all processes of a machine share. */
export function clockMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** Answers that a flood received, and when. */
export class Served {
  /** By the millisecond. */
  readonly #amounts = new Map<number, number>();

  add(amount: number): void {
    const now = Math.floor(clockMs());
    this.#amounts.set(now, (this.#amounts.get(now) ?? 0) + amount);
  }

  between(from: number, to: number): number {
    let sum = 0;
    for (const [at, amount] of this.#amounts) if (at >= from && at <= to) sum += amount;
    return sum;
  }
}
