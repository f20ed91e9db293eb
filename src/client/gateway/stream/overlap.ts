import type { GatewayLogLine } from "../answers.ts";

/**
 * Joins a new stream of lines to the lines read before the old one broke. The new stream begins with past lines; their
 * longest run that overlaps ours is left out.
 */
export class Overlap {
  readonly #kept: readonly GatewayLogLine[];
  readonly #held: GatewayLogLine[] = [];
  /** Places in the kept lines from which the held ones have matched so far. */
  #starts: number[];
  /** Lines known to be old if nothing better comes. */
  #old = 0;

  constructor(kept: readonly GatewayLogLine[]) {
    this.#kept = kept;
    this.#starts = kept.map((_, index) => index);
  }

  /** Takes a line; returns the new lines as soon as they can be told from repeated ones. */
  push(line: GatewayLogLine): readonly GatewayLogLine[] | undefined {
    const at = this.#held.push(line) - 1;
    this.#starts = this.#starts.filter((start) => isSame(this.#kept[start + at], line));
    if (this.#starts.some((start) => start + at === this.#kept.length - 1)) this.#old = at + 1;
    this.#starts = this.#starts.filter((start) => start + at < this.#kept.length - 1);
    return this.#starts.length === 0 ? this.flush() : undefined;
  }

  /** Decides by the lines so far. */
  flush(): readonly GatewayLogLine[] {
    return this.#held.slice(this.#old);
  }
}

function isSame(one: GatewayLogLine | undefined, other: GatewayLogLine): boolean {
  return one?.message === other.message && one.time === other.time;
}
