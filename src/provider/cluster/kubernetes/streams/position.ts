import type { PodLine } from "./pod-lines.ts";

/** Up to where a log was shown, by which it goes on where it is opened again: no line twice, and none left out. */
export class Position {
  #last: PodLine | undefined;
  /** Lines of the time of the last one. */
  #count = 0;

  /** Time of the last line, milliseconds since the epoch; undefined while there is none. */
  get at(): number | undefined {
    return this.#last?.at;
  }

  /** Times are compared as texts: they are of one form. */
  add(line: PodLine): void {
    const last = this.#last?.time ?? "";
    // The two streams of a program may pass one another by a moment.
    if (line.time < last) return;
    this.#count = line.time === last ? this.#count + 1 : 1;
    this.#last = line;
  }

  /** Tells of the lines of a log that is opened now, in their order, whether they are new. */
  filter(): (line: PodLine) => boolean {
    const last = this.#last?.time ?? "";
    let left = this.#count;
    return ({ time }) => time > last || (time === last && left-- <= 0);
  }
}
