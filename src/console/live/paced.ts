/** Milliseconds between two beginnings of the same work, unless given. */
const LEAST_MS = 1000;

/** Work that is wanted more often than it is done: one at a time, at most once in a time, and not again while the page is hidden. */
export class Paced {
  readonly #work: () => Promise<void>;
  readonly #leastMs: number;
  #isWanted = false;
  #isBusy = false;
  /** Milliseconds since 1970; 0 before the first time. */
  #begun = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(work: () => Promise<void>, leastMs = LEAST_MS) {
    this.#work = work;
    this.#leastMs = leastMs;
    document.addEventListener("visibilitychange", this.#next);
  }

  want(): void {
    this.#isWanted = true;
    this.#next();
  }

  end(): void {
    this.#isWanted = false;
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.#next);
  }

  readonly #next = (): void => {
    if (!this.#isWanted || this.#isBusy) return;
    if (this.#begun > 0 && document.hidden) return;
    clearTimeout(this.#timer);
    const pause = Math.min(this.#leastMs, this.#begun + this.#leastMs - Date.now());
    if (pause > 0) this.#timer = setTimeout(this.#next, pause);
    else void this.#run();
  };

  async #run(): Promise<void> {
    this.#isWanted = false;
    this.#isBusy = true;
    this.#begun = Date.now();
    await this.#work();
    this.#isBusy = false;
    this.#next();
  }
}
