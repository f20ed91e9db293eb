import { type Clock, Recent, systemClock } from "../../util/index.ts";
import { ingressErrors } from "./errors.ts";
import { HOST_LIMITS } from "./limits.ts";

interface Waiter {
  readonly owner: string;
  readonly enter: () => void;
  readonly refuse: (reason: Error) => void;
}

/** Places of one kind, limited in total and per owner. */
class Lane {
  readonly #all: number;
  readonly #each: number;
  readonly #owners = new Map<string, number>();
  #taken = 0;

  constructor(all: number, each: number) {
    this.#all = all;
    this.#each = each;
  }

  get isFull(): boolean {
    return this.#taken >= this.#all;
  }

  taken(owner: string): number {
    return this.#owners.get(owner) ?? 0;
  }

  isOpen(owner: string): boolean {
    return !this.isFull && this.taken(owner) < this.#each;
  }

  enter(owner: string): void {
    this.#taken += 1;
    this.#owners.set(owner, this.taken(owner) + 1);
  }

  leave(owner: string): void {
    const left = this.taken(owner) - 1;
    this.#taken -= 1;
    if (left > 0) this.#owners.set(owner, left);
    else this.#owners.delete(owner);
  }
}

/**
 * Places for DNS questions. Silent name servers and accounts cost an attacker nothing, so a question without a quick
 * answer moves to a place of another kind, or is given up if these are taken, and owners with answered questions come
 * first. Many silent servers therefore do not delay other owners.
 */
export class LookupPlaces {
  readonly #clock: Clock;
  readonly #quick = new Lane(HOST_LIMITS.lookups, HOST_LIMITS.ownerLookups);
  readonly #slow = new Lane(HOST_LIMITS.slowLookups, HOST_LIMITS.ownerSlowLookups);
  readonly #silences = new Recent<string, number>(HOST_LIMITS.rememberedOwners);
  readonly #waiting = new Set<Waiter>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** The question has to end soon after its signal. Rejects where too many wait already. */
  async run<T>(owner: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#enter(owner);
    const stop = new AbortController();
    let leave = () => this.#leave(owner);
    const cancel = this.#clock.after(HOST_LIMITS.quickMs, () => {
      this.#silences.set(owner, this.#silencesOf(owner) + 1);
      leave = this.#slowDown(owner, stop);
      this.#leave(owner);
    });
    try {
      return await ask(stop.signal);
    } finally {
      cancel();
      leave();
    }
  }

  /** Gives the question one of the other places, or ends it; returns what gives that place back. */
  #slowDown(owner: string, stop: AbortController): () => void {
    if (this.#slow.isOpen(owner)) {
      this.#slow.enter(owner);
      return () => this.#slow.leave(owner);
    }
    stop.abort();
    return () => {};
  }

  async #enter(owner: string): Promise<void> {
    if (this.#waiting.size >= HOST_LIMITS.waiting) this.#makeRoom(owner);
    await new Promise<void>((enter, refuse) => {
      this.#waiting.add({ owner, enter, refuse });
      this.#admit();
    });
  }

  /** With a full queue, the question that would come last is refused. */
  #makeRoom(newcomer: string): void {
    const [last] = [...this.#waiting].sort((a, b) => this.#rank(b.owner) - this.#rank(a.owner));
    if (last === undefined || this.#rank(last.owner) <= this.#rank(newcomer)) throw ingressErrors.dnsBusy();
    this.#waiting.delete(last);
    last.refuse(ingressErrors.dnsBusy());
  }

  #leave(owner: string): void {
    this.#quick.leave(owner);
    this.#admit();
  }

  /** Owners with the fewest silent servers come first, then owners with the fewest places. */
  #admit(): void {
    if (this.#quick.isFull) return;
    let first: Waiter | undefined;
    for (const each of this.#waiting) {
      if (!this.#quick.isOpen(each.owner)) continue;
      if (first === undefined || this.#rank(each.owner) < this.#rank(first.owner)) first = each;
    }
    if (first === undefined) return;
    this.#waiting.delete(first);
    this.#quick.enter(first.owner);
    first.enter();
  }

  #rank(owner: string): number {
    return this.#silencesOf(owner) * HOST_LIMITS.lookups + this.#quick.taken(owner);
  }

  #silencesOf(owner: string): number {
    return this.#silences.get(owner) ?? 0;
  }
}
