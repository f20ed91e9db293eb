import { COUNT_EVERY, CROWD, MAX_REMEMBERED, MAX_WAITING } from "./limits.ts";
import { isOver, isWaiting, type Tracked } from "./order.ts";

/** The orders that the provider keeps in mind, those that came first in front. */
export class Book {
  readonly #orders = new Map<string, Tracked>();
  #countAt = MAX_REMEMBERED;

  get(text: string): Tracked | undefined {
    return this.#orders.get(text);
  }

  all(): Tracked[] {
    return [...this.#orders.values()];
  }

  some(condition: (order: Tracked) => boolean): boolean {
    for (const order of this.#orders.values()) if (condition(order)) return true;
    return false;
  }

  /** Whether so many wait that few new orders are looked for. */
  get isCrowded(): boolean {
    return this.all().filter(isWaiting).length > CROWD;
  }

  /** Puts an order behind those that came meanwhile. */
  toBack(order: Tracked): void {
    if (this.#orders.delete(order.text)) this.#orders.set(order.text, order);
  }

  /** Adds a new order; returns whether others that wait were forgotten for lack of space. */
  add(order: Tracked): boolean {
    this.#orders.set(order.text, order);
    if (this.#orders.size <= this.#countAt) return false;
    const over = this.all().filter(isOver).slice(0, -MAX_REMEMBERED);
    const waiting = this.all().filter(isWaiting).slice(MAX_WAITING);
    for (const { text } of [...over, ...waiting]) this.#orders.delete(text);
    this.#countAt = this.#orders.size + COUNT_EVERY;
    return waiting.length > 0;
  }
}
