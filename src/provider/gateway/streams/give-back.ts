import { collectGarbage } from "../../../util/index.ts";

/**
 * Gives back the memory of streams once none has ended for some time: readers of long logs leave tens of megabytes behind, and a
 * daemon at rest would keep them. V8 makes its heap smaller only where little was made for five seconds.
 */
export class GiveBack {
  readonly #afterMs: number;
  readonly #collect: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(afterMs: number, collect: () => void = collectGarbage) {
    this.#afterMs = afterMs;
    this.#collect = collect;
  }

  /** A stream has ended. */
  later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#collect, this.#afterMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
