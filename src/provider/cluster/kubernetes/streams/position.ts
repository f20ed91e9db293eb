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

  /** The lines of a log that is opened now which are new; the position follows them. */
  async *noted(lines: AsyncIterable<PodLine>): AsyncGenerator<PodLine, undefined> {
    const isNew = this.filter();
    for await (const line of lines) {
      if (!isNew(line)) continue;
      this.add(line);
      yield line;
    }
  }

  /** Tells of the lines of such a log, in their order, whether they are new. */
  filter(): (line: PodLine) => boolean {
    const last = this.#last?.time ?? "";
    let left = this.#count;
    return ({ time }) => time > last || (time === last && left-- <= 0);
  }
}
