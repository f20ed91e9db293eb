import { collectGarbage } from "../../util/index.ts";

/** A collection of garbage costs as much time as to receive this. */
const COLLECT_AFTER_BYTES = 32 * 1024 * 1024;

/** Bytes that are held for one client until it has taken or sent the rest of them. */
export interface HeldBytes {
  /** Holds more; false when there is no room, or the client was let go. */
  add(bytes: number): boolean;
  release(): void;
}

/** Bytes that are held for clients, of all connections together. */
export class ByteBudget {
  readonly #limit: number;
  readonly #collect: () => void;
  /** Clients that may be disconnected, in order of arrival. */
  readonly #clients = new Set<Held>();
  readonly #counter: Counter = {
    enter: (held, bytes) => this.#enter(held, bytes),
    leave: (held) => this.#leave(held),
  };
  #held = 0;
  /** Of clients that were let go since the last collection of garbage. */
  #dropped = 0;

  /** What it lets go of is collected in time: a flood is faster than V8, and what it takes at most, the process keeps for long. */
  constructor(limit: number, collect: () => void = collectGarbage) {
    this.#limit = limit;
    this.#collect = collect;
  }

  get held(): number {
    return this.#held;
  }

  /**
   * Counts bytes until the function that it returns is called. Where there is no room, the client that has been reading
   * or sending longest is disconnected, of those that hold as much as others do: an active client is done soon, and a
   * stalled one must not keep others out. Undefined when even then there is no room.
   */
  hold(bytes: number, letGo?: () => void): (() => void) | undefined {
    const held = this.begin(letGo);
    return held.add(bytes) ? () => held.release() : undefined;
  }

  /** The same for bytes that come little by little. */
  begin(letGo?: () => void): HeldBytes {
    return new Held(this.#counter, letGo);
  }

  #enter(held: Held, bytes: number): boolean {
    this.#makeRoom(bytes);
    if (held.isOver || this.#held + bytes > this.#limit) return false;
    this.#held += bytes;
    // It keeps the place of its first bytes.
    if (held.canGo) this.#clients.add(held);
    return true;
  }

  #leave(held: Held): void {
    this.#held -= held.bytes;
    this.#clients.delete(held);
  }

  #makeRoom(bytes: number): void {
    if (bytes > this.#limit) return;
    while (this.#held + bytes > this.#limit) {
      const next = this.#nextToGo();
      if (next === undefined) return;
      this.#collectAfter(next.bytes);
      next.end();
    }
  }

  #collectAfter(bytes: number): void {
    const before = this.#dropped;
    this.#dropped += bytes;
    if (before > COLLECT_AFTER_BYTES || this.#dropped <= COLLECT_AFTER_BYTES) return;
    // The streams have let go of their bytes by then.
    setImmediate(() => {
      this.#dropped = 0;
      this.#collect();
    });
  }

  #nextToGo(): Held | undefined {
    const share = this.#held / this.#clients.size;
    for (const client of this.#clients) if (client.bytes >= share) return client;
    const [first] = this.#clients;
    return first;
  }
}

interface Counter {
  readonly enter: (held: Held, bytes: number) => boolean;
  readonly leave: (held: Held) => void;
}

class Held implements HeldBytes {
  readonly #counter: Counter;
  /** Forgotten at the end: tables of the budget that V8 has replaced still know who was in them, until a full collection. */
  #letGo: (() => void) | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(counter: Counter, letGo: (() => void) | undefined) {
    this.#counter = counter;
    this.#letGo = letGo;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get canGo(): boolean {
    return this.#letGo !== undefined;
  }

  add(bytes: number): boolean {
    const isHeld = !this.#isOver && this.#counter.enter(this, bytes);
    if (isHeld) this.#bytes += bytes;
    return isHeld;
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#letGo = undefined;
    this.#counter.leave(this);
  }

  /** Disconnects its client. */
  end(): void {
    const letGo = this.#letGo;
    this.release();
    letGo?.();
  }
}
