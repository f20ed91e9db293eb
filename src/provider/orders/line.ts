import { obstaclesWith } from "../reasons.ts";
import type { Book } from "./book.ts";
import { CHECKS_A_PASS, TRIES_A_PASS } from "./limits.ts";
import { describe, Refusal, type Tracked } from "./order.ts";
import type { Reserve, Take } from "./stages/reserve.ts";

/** Obstacles that end when room or money is found. */
export const IN_LINE = obstaclesWith(({ again }) => again === "room" || again === "money");

/** Orders that wait for room or money, first come, first served. It moves when there is some. */
export class Line {
  readonly #book: Book;
  readonly #reserve: Reserve;
  /** Orders that have not been compared with the room that was found, the next one last. */
  #rest: Tracked[] = [];
  /** Room was found since the line began to move. */
  #isFound = false;
  /** Why nobody gets a bid for lack of money; undefined if there is enough. */
  #short: Refusal | undefined;
  #askAt = 0;
  #isAsking = false;

  constructor(book: Book, reserve: Reserve) {
    this.#book = book;
    this.#reserve = reserve;
  }

  /** There is more room or money: begins from the front, once all orders of this round had their turn. */
  found(): void {
    this.#isFound = true;
    this.#askAt = 0;
  }

  /** An order was refused for lack of money: nobody gets a bid until there is some again. */
  stop(reason: Refusal): void {
    this.#short = reason;
    this.#isFound = true;
    this.#rest = [];
  }

  /** Sends an order that comes now to the back, with the reason; undefined if it may take what there is. */
  join(order: Tracked): Refusal | undefined {
    const isStanding = this.#short === undefined && this.#rest.length === 0 && !this.#isFound;
    if (isStanding || !this.#book.some(isInLine)) return undefined;
    if (this.#rest.length > 0) this.#rest.unshift(order);
    return this.#short ?? new Refusal("capacity", "insufficient capacity: orders that came before it are served first");
  }

  /**
   * Reserves room and money for those in front for whom there is some: for some in each pass, so that a crowd of orders
   * costs no more at a time than a few. While there is no money it is asked for once in each interval.
   */
  async next(now: number, intervalMs: number): Promise<readonly Tracked[]> {
    if (this.#isAsking || (this.#short !== undefined && now < this.#askAt)) return [];
    this.#askAt = now + intervalMs;
    // A round that began ends: room that is found again and again would otherwise keep those behind from their turn.
    if (this.#rest.length === 0 && this.#isFound) {
      this.#rest = this.#book.all().filter(isInLine).reverse();
      this.#isFound = false;
    }
    if (this.#rest.length === 0) this.#short = undefined;
    if (this.#rest.length === 0) return [];
    this.#isAsking = true;
    try {
      return await this.#reserve.atOnce((take) => this.#serve(take));
    } catch {
      // The chain does not tell the balance now: the next pass asks again.
      return [];
    } finally {
      this.#isAsking = false;
    }
  }

  #serve(take: Take): readonly Tracked[] {
    this.#short = undefined;
    const served: Tracked[] = [];
    for (let tries = 0; tries < TRIES_A_PASS && served.length < CHECKS_A_PASS; ) {
      const order = this.#rest.pop();
      if (order === undefined) break;
      if (this.#book.get(order.text) !== order || !isInLine(order) || !this.#reserve.mayFit(order)) continue;
      tries++;
      const refusal = take(order.text, order.rows ?? []);
      if (refusal === undefined) {
        // In the same turn: its reservation would otherwise look like one without a bid.
        order.phase = "checking";
        served.push(order);
      } else describe(order, refusal);
      if (refusal?.obstacle === "money") this.stop(refusal);
    }
    return served;
  }
}

function isInLine({ phase, obstacle }: Tracked): boolean {
  return phase === "refused" && obstacle !== undefined && IN_LINE.has(obstacle);
}
