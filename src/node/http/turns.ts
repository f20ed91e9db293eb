import { type Caller, FairQueue, type Reading } from "../../util/index.ts";
import { CALLS_SLICE_MS } from "./limits.ts";

/** What turns wait for. */
interface TurnsOptions {
  /** New connections are taken before calls begin. */
  readonly reading?: Pick<Reading, "isAccepting">;
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

  constructor({ reading, now = () => performance.now() }: TurnsOptions = {}) {
    this.#reading = reading;
    this.#now = now;
  }

  /**
   * The same as `next` for a connection that has no other call at the time: it begins at once while nobody waits and the slice is
   * not over. To wait for its turn would cost it more than a tenth of its time.
   */
  single(caller?: Caller): Promise<void> {
    return !this.#isGiving && this.#now() < this.#end ? NOW : this.next(caller);
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
