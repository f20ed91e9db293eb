/** Owners that are remembered; the one who wasted a bid least recently is forgotten first. */
const MAX_OWNERS = 10_000;

/**
 * Bids that owners let go by: not taken until others wanted their room, or their order was cancelled. A bid holds room and a deposit for
 * nothing then, so whoever let none go by comes first where not all orders find room. A lease makes up for all of them.
 */
export class Chances {
  readonly #wasted = new Map<string, number>();

  of(owner: string): number {
    return this.#wasted.get(owner) ?? 0;
  }

  wasted(owner: string): void {
    const count = this.of(owner) + 1;
    this.#wasted.delete(owner);
    this.#wasted.set(owner, count);
    const [oldest] = this.#wasted.keys();
    if (this.#wasted.size > MAX_OWNERS && oldest !== undefined) this.#wasted.delete(oldest);
  }

  taken(owner: string): void {
    this.#wasted.delete(owner);
  }
}
