import type { Tracked } from "../tracked.ts";

/** Room that is found settles for so long: many leases may end in one block, and one pass serves them all. */
const SETTLES_MS = 50;
/** Pause between two batches of a pass. */
const LOT_MS = 200;
/** Orders of a lot that are compared with the room there is. */
const COMPARED = 500;
/** Orders of a lot that the chain is asked about. */
export const CHECKS_A_LOT = 64;

export interface RoomPassOptions {
  /** Orders that wait for room, in the order of their turns. */
  readonly waiting: () => readonly Tracked[];
  /** Whether there may be room for an order that still waits for it; takes no question to the chain. */
  readonly mayFit: (tracked: Tracked) => boolean;
  readonly check: (tracked: Tracked) => void;
}

/**
 * Goes through the orders that wait for room when there is some. Only those that would fit are checked, a lot at a time: whoever
 * lets a crowd of orders wait would otherwise have the provider ask the chain about all of them, each time somebody cancels one.
 */
export class RoomPass {
  readonly #options: RoomPassOptions;
  /** The rest of this pass, the next order at the end; undefined before it began. */
  #rest: Tracked[] | undefined;
  /** Orders that came meanwhile: they follow the ones that wait for the room. */
  #arrived: Tracked[] = [];
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: RoomPassOptions) {
    this.#options = options;
  }

  /** There is room: begins from the front, soon. */
  begin(): void {
    if (this.#stopped) return;
    this.#rest = undefined;
    this.#timer ??= setTimeout(() => this.#lot(), SETTLES_MS);
  }

  /** Whether the order waits for the end of a pass before it is checked. */
  queue(tracked: Tracked): boolean {
    if (this.#timer === undefined) return false;
    this.#arrived.push(tracked);
    return true;
  }

  /** How many wait for the end of a pass. */
  get queued(): number {
    return this.#arrived.length;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #lot(): void {
    this.#timer = undefined;
    const rest = this.#rest ?? this.#options.waiting().toReversed();
    this.#rest = rest;
    this.#checkSome(rest);
    if (rest.length > 0) {
      this.#timer = setTimeout(() => this.#lot(), LOT_MS);
      return;
    }
    for (const tracked of this.#arrived.splice(0)) this.#options.check(tracked);
  }

  #checkSome(rest: Tracked[]): void {
    let checks = 0;
    for (let compared = 0; compared < COMPARED && checks < CHECKS_A_LOT; compared++) {
      const next = rest.pop();
      if (next === undefined) return;
      if (!this.#options.mayFit(next)) continue;
      checks++;
      this.#options.check(next);
    }
  }
}
