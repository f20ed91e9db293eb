import { batch, type Signal, signal } from "@preact/signals";

/** A row's place in the page, and what it shows. */
export interface Slot<T> {
  readonly id: number;
  readonly row: Signal<T>;
}

/**
 * Places for the rows of a live list. The place of a row that leaves is used for one that comes: a block then changes texts, and makes no
 * elements.
 */
export class Slots<T> {
  readonly #keyOf: (row: T) => string;
  #slots: readonly Slot<T>[] = [];
  #last = 0;

  constructor(keyOf: (row: T) => string) {
    this.#keyOf = keyOf;
  }

  /** The places of rows, in their order; the same array if no place is another one. The place `held` is for its row alone. */
  take(rows: readonly T[], held?: number): readonly Slot<T>[] {
    const wanted = new Set(rows.map(this.#keyOf));
    const known = new Map(this.#slots.map((slot) => [this.#keyOf(slot.row.peek()), slot]));
    const free = this.#slots.filter(({ id, row }) => id !== held && !wanted.has(this.#keyOf(row.peek())));
    const next = batch(() => rows.map((row) => this.#placed(row, known.get(this.#keyOf(row)) ?? free.shift())));
    const isSame = next.length === this.#slots.length && next.every((slot, i) => slot === this.#slots[i]);
    if (!isSame) this.#slots = next;
    return this.#slots;
  }

  #placed(row: T, slot: Slot<T> | undefined): Slot<T> {
    if (slot === undefined) {
      this.#last += 1;
      return { id: this.#last, row: signal(row) };
    }
    slot.row.value = row;
    return slot;
  }
}
