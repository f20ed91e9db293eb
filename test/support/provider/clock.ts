import type { Clock } from "../../../src/util/index.ts";

interface Planned {
  readonly at: number;
  readonly task: () => void;
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now = 1_700_000_000_000;
  readonly #planned = new Set<Planned>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, task: () => void): () => void {
    const planned = { at: this.#now + milliseconds, task };
    this.#planned.add(planned);
    return () => this.#planned.delete(planned);
  }

  /** Runs everything that is due within the span, in order, and lets what each starts settle first. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    for (;;) {
      await settle();
      const [next] = [...this.#planned].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#planned.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.task();
    }
    this.#now = end;
  }
}

/** Lets promises and I/O that is already under way finish. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
