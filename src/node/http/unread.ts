import { MAX_UNREAD_BYTES } from "./limits.ts";

/** Bytes that are held for clients, of all connections together. */
export class UnreadBytes {
  readonly #limit: number;
  /** For each reader that may be disconnected, in order of arrival: how it is forgotten, and how it is ended. */
  readonly #readers = new Map<() => void, () => void>();
  #held = 0;

  constructor(limit: number = MAX_UNREAD_BYTES) {
    this.#limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /**
   * Counts bytes until the function that it returns is called. Where there is no room, the client that has been reading
   * longest is disconnected: a client that reads is done soon, and those that do not read must not keep others out.
   * Undefined when even then there is no room.
   */
  hold(bytes: number, letGo?: () => void): (() => void) | undefined {
    this.#makeRoom(bytes);
    if (this.#held + bytes > this.#limit) return undefined;
    this.#held += bytes;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) this.#held -= bytes;
      isHeld = false;
      this.#readers.delete(release);
    };
    if (letGo !== undefined) this.#readers.set(release, letGo);
    return release;
  }

  #makeRoom(bytes: number): void {
    if (bytes > this.#limit) return;
    for (const [release, letGo] of this.#readers) {
      if (this.#held + bytes <= this.#limit) return;
      release();
      letGo();
    }
  }
}
