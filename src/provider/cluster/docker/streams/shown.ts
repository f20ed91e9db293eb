import { largest } from "../../../../util/index.ts";
import type { TimedLine } from "../api/logs.ts";

/** How far one stream of a program was read. */
interface Position {
  /** End of its last line, seconds since the epoch. */
  readonly last: number;
  /** Lines that ended then: some engines tell whole seconds only. */
  readonly count: number;
}

/** How far a log was read, so that it goes on where it is opened again: no line twice, and none left out. */
export class Shown {
  readonly #streams = new Map<TimedLine["stream"], Position>();
  /** End of the first line. */
  #first = Number.NEGATIVE_INFINITY;

  /** End of the last line, seconds since the epoch; undefined while there is none. */
  get last(): number | undefined {
    if (this.#streams.size === 0) return undefined;
    const lasts = [...this.#streams.values()].map(({ last }) => last);
    return largest(lasts, this.#first);
  }

  add({ end, stream }: TimedLine): void {
    if (this.#streams.size === 0) this.#first = end;
    const before = this.#streams.get(stream);
    this.#streams.set(stream, { last: end, count: before?.last === end ? before.count + 1 : 1 });
  }

  /** Tells of the lines of a log that is opened now, in their order, whether they are new. */
  filter(): (line: TimedLine) => boolean {
    const positions = new Map(this.#streams);
    return ({ end, stream }) => {
      const position = positions.get(stream);
      if (position === undefined) return end >= this.#first;
      if (end !== position.last) return end > position.last;
      positions.set(stream, { last: end, count: position.count - 1 });
      return position.count <= 0;
    };
  }
}
