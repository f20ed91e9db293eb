import { type Caller, FairQueue, type Reading } from "../../util/index.ts";
import { CALLS_SLICE_MS } from "./limits.ts";

/** What turns wait for. */
interface TurnsOptions {
  /** New connections are taken before calls begin; the number tells turns of the event loop apart. */
  readonly reading?: Pick<Reading, "isAccepting" | "turn">;
  readonly now?: () => number;
}

const NOW = Promise.resolve();
const NOBODY: Caller = { client: "", connection: {} };

/**
 * Calls of one connection begin in the order in which they came, one by one with those of other connections and clients. After
 * some milliseconds, other work has its turn: blocks, new connections, health checks.
 */
export class Turns {
  readonly #queue = new FairQueue<() => void>();
  readonly #reading: TurnsOptions["reading"];
  readonly #now: () => number;
  #isGiving = false;
  /** The end of the last slice. */
  #end = Number.NEGATIVE_INFINITY;
  /** Single calls of a turn of the event loop, and of the turn with calls before it. */
  #turn = 0;
  #singles = 0;
  #singlesBefore = 0;

  constructor({ reading, now = () => performance.now() }: TurnsOptions = {}) {
    this.#reading = reading;
    this.#now = now;
  }

  /**
   * The same as `next` for a connection that has no other call at the time: it begins at once while nobody else asks and the slice
   * is not over. To wait for its turn would cost it more than a tenth of its time. Calls of several connections wait for each other:
   * answered one by one, their clients would come back one by one, and each turn of the event loop serve a single call.
   */
  single(caller?: Caller): Promise<void> {
    const isAlone = this.#isAlone();
    return isAlone && !this.#isGiving && this.#now() < this.#end ? NOW : this.next(caller);
  }

  #isAlone(): boolean {
    const turn = this.#reading?.turn ?? 0;
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#singlesBefore = this.#singles;
      this.#singles = 0;
    }
    this.#singles += 1;
    return this.#singles === 1 && this.#singlesBefore <= 1;
  }

  /** Resolves when it is the caller's turn. */
  next(caller: Caller = NOBODY): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push(caller, resolve);
      if (this.#isGiving) return;
      this.#isGiving = true;
      this.#giveLater();
    });
  }

  /** An immediate that is set within another runs after the next poll of the network. */
  #giveLater(): void {
    setImmediate(() => void this.#give());
  }

  /** Never rejects: giving a turn throws nothing. */
  async #give(): Promise<void> {
    if (this.#reading?.isAccepting === true) return this.#giveLater();
    this.#end = this.#now() + CALLS_SLICE_MS;
    for (let begin = this.#queue.shift(); begin !== undefined; begin = this.#queue.shift()) {
      begin();
      // The caller continues before this function does.
      await undefined;
      if (this.#now() >= this.#end) break;
    }
    this.#isGiving = !this.#queue.isEmpty;
    if (this.#isGiving) this.#giveLater();
  }
}
