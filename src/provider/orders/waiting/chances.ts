import { Recent } from "../../../util/index.ts";

/** Owners that are remembered: those who let a bid go by, or took one, least recently are forgotten first. */
const GENERATION = 5_000;

/**
 * Bids that owners let go by: not taken until others wanted their room, or their order was cancelled. A bid holds room and a deposit for
 * nothing then, so whoever let none go by comes first where not all orders find room. A lease makes up for all of them.
 */
export class Chances {
  readonly #wasted = new Recent<string, number>(GENERATION);

  of(owner: string): number {
    return this.#wasted.get(owner) ?? 0;
  }

  wasted(owner: string): void {
    this.#wasted.set(owner, this.of(owner) + 1);
  }

  taken(owner: string): void {
    this.#wasted.set(owner, 0);
  }
}
