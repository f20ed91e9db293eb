import type { TimedLine } from "../api/logs.ts";

/** What was shown of a log, by which it goes on where it is opened again: no line twice, and none left out. */
export class Shown {
  /** Time of the first line, and of the last one: seconds since the epoch. */
  #first = Number.NEGATIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  /** Lines of the time of the last one: some engines tell whole seconds only. */
  #count = 0;
  #total = 0;

  /** Of the last line; undefined while there is none. */
  get second(): number | undefined {
    return this.#total === 0 ? undefined : Math.floor(this.#last);
  }

  add({ time }: TimedLine): void {
    if (this.#total === 0) this.#first = time;
    this.#total++;
    // The two streams of a program may pass one another by a moment.
    if (time < this.#last) return;
    this.#count = time === this.#last ? this.#count + 1 : 1;
    this.#last = time;
  }

  /** Tells of the lines of a log that is opened now, in their order, whether they are new. `tail` is what was asked for at first. */
  filter(tail: number): (line: TimedLine) => boolean {
    const last = this.#last;
    // Nobody knows how many lines of its time stand before the first one that a tail lets through.
    const isCut = tail >= 0 && this.#total >= tail && this.#first === last;
    let left = isCut ? Number.POSITIVE_INFINITY : this.#count;
    return ({ time }) => time > last || (time === last && left-- <= 0);
  }
}
