/** A replica that did not take a connection is asked last for this long. */
const AVOID_MS = 2_000;

/** Chooses replicas in turn and avoids those that just failed. */
export class Balancer {
  readonly #failed = new Map<string, number>();
  #turn = -1;

  /** The next address that was not tried yet, or undefined. A request's first try moves the turn on. */
  next(addresses: readonly string[], tried: ReadonlySet<string>, now: number): string | undefined {
    if (tried.size === 0) this.#turn++;
    const start = this.#turn % Math.max(addresses.length, 1);
    const rotated = [...addresses.slice(start), ...addresses.slice(0, start)];
    const left = rotated.filter((address) => !tried.has(address));
    return left.find((address) => now - (this.#failed.get(address) ?? -AVOID_MS) >= AVOID_MS) ?? left[0];
  }

  noteFailure(address: string, now: number): void {
    if (this.#failed.size > 1_000) this.#failed.clear();
    this.#failed.set(address, now);
  }
}
