import { MAX_UNREAD_BYTES } from "./limits.ts";

/** Bytes that were written for clients and that they have not read yet, of all connections together. */
export class UnreadBytes {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number = MAX_UNREAD_BYTES) {
    this.#limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /** Counts bytes until the function that it returns is called; undefined when there is no room for them. */
  hold(bytes: number): (() => void) | undefined {
    if (this.#held + bytes > this.#limit) return undefined;
    this.#held += bytes;
    let isHeld = true;
    return () => {
      if (isHeld) this.#held -= bytes;
      isHeld = false;
    };
  }
}
