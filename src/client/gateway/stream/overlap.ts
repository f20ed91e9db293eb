/**
 * Joins a new stream of lines to what was read before the old one broke. The new stream begins with past lines; the
 * longest run that overlaps ours is left out.
 */
export class Overlap {
  readonly #kept: readonly string[];
  readonly #held: string[] = [];
  /** Places in the kept lines from which the held ones have matched so far. */
  #starts: number[];
  /** Lines known to be old if nothing better comes. */
  #old = 0;

  constructor(kept: readonly string[]) {
    this.#kept = kept;
    this.#starts = kept.map((_, index) => index);
  }

  /** Takes a line; returns the new lines as soon as it is clear which those are. */
  push(line: string): readonly string[] | undefined {
    const at = this.#held.push(line) - 1;
    this.#starts = this.#starts.filter((start) => this.#kept[start + at] === line);
    if (this.#starts.some((start) => start + at === this.#kept.length - 1)) this.#old = at + 1;
    this.#starts = this.#starts.filter((start) => start + at < this.#kept.length - 1);
    return this.#starts.length === 0 ? this.flush() : undefined;
  }

  /** Decides by what has arrived so far. */
  flush(): readonly string[] {
    return this.#held.slice(this.#old);
  }
}
