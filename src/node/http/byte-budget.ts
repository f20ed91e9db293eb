/** Bytes held for one client until it has read or sent the rest. */
export interface HeldBytes {
  /** Holds more; false when there is no room, or the client was disconnected. */
  add(bytes: number): boolean;
  release(): void;
}

/** Bytes held for clients, of all connections together. */
export class ByteBudget {
  readonly #limit: number;
  /** Holdings whose client may be disconnected, in order of arrival. */
  readonly #droppable = new Set<Held>();
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /**
   * Counts bytes until the function that it returns is called. When the budget is full, the oldest holding of at least average size
   * is dropped: an active client is done soon, and a stalled one must not keep others out. Undefined when there is no room even then.
   */
  hold(bytes: number, drop?: () => void): (() => void) | undefined {
    const held = this.begin(drop);
    return held.add(bytes) ? () => held.release() : undefined;
  }

  /** The same for bytes that come little by little. */
  begin(drop?: () => void): HeldBytes {
    return new Held(
      {
        enter: (held, bytes) => this.#enter(held, bytes),
        leave: (held) => this.#leave(held),
      },
      drop,
    );
  }

  #enter(held: Held, bytes: number): boolean {
    this.#makeRoom(bytes);
    if (held.isOver || this.#held + bytes > this.#limit) return false;
    this.#held += bytes;
    // A holding keeps the place of its first bytes.
    if (held.canDrop) this.#droppable.add(held);
    return true;
  }

  #leave(held: Held): void {
    this.#held -= held.bytes;
    this.#droppable.delete(held);
  }

  #makeRoom(bytes: number): void {
    if (bytes > this.#limit) return;
    while (this.#held + bytes > this.#limit) {
      const next = this.#nextToGo();
      if (next === undefined) return;
      next.end();
    }
  }

  #nextToGo(): Held | undefined {
    const average = this.#held / this.#droppable.size;
    for (const held of this.#droppable) if (held.bytes >= average) return held;
    const [first] = this.#droppable;
    return first;
  }
}

interface Counter {
  readonly enter: (held: Held, bytes: number) => boolean;
  readonly leave: (held: Held) => void;
}

class Held implements HeldBytes {
  readonly #counter: Counter;
  #drop: (() => void) | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(counter: Counter, drop: (() => void) | undefined) {
    this.#counter = counter;
    this.#drop = drop;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get canDrop(): boolean {
    return this.#drop !== undefined;
  }

  add(bytes: number): boolean {
    const isHeld = !this.#isOver && this.#counter.enter(this, bytes);
    if (isHeld) this.#bytes += bytes;
    return isHeld;
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#drop = undefined;
    this.#counter.leave(this);
  }

  /** Disconnects the client. */
  end(): void {
    const drop = this.#drop;
    this.release();
    drop?.();
  }
}
