import type { Clock } from "../../util/index.ts";
import type { LedgerEntry } from "./ledger.ts";
import { HOST_LIMITS } from "./limits.ts";

/** A released name, and the time until which only its owner may take it. */
interface Rest {
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Released names: for a time only their owner may take them. */
export class Resting {
  readonly #periodMs: number;
  readonly #clock: Clock;
  /** By the time at which each was put in. */
  readonly #rests = new Map<string, Rest>();

  constructor(periodMs: number, clock: Clock) {
    this.#periodMs = periodMs;
    this.#clock = clock;
  }

  /** Adds an earlier process's entries; names in use then rest from now on. */
  restore({ host, owner, until }: LedgerEntry): void {
    const latest = this.#clock.now() + this.#periodMs;
    this.#rests.set(host, { owner, until: Math.min(until ?? latest, latest) });
  }

  put(host: string, owner: string): void {
    if (this.#periodMs === 0) return;
    this.#rests.delete(host);
    this.#rests.set(host, { owner, until: this.#clock.now() + this.#periodMs });
    if (this.#rests.size <= HOST_LIMITS.resting) return;
    this.#sweep();
    if (this.#rests.size > HOST_LIMITS.resting) this.#makeRoom();
  }

  ownerOf(host: string): string | undefined {
    const rest = this.#rests.get(host);
    return rest === undefined || rest.until <= this.#clock.now() ? undefined : rest.owner;
  }

  /** Ends the rest of a name that is in use again; returns whether it was resting. */
  take(host: string): boolean {
    const isResting = this.ownerOf(host) !== undefined;
    this.#rests.delete(host);
    return isResting;
  }

  drop(host: string): void {
    this.#rests.delete(host);
  }

  entries(): LedgerEntry[] {
    this.#sweep();
    return [...this.#rests].map(([host, rest]) => ({ host, ...rest }));
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [host, { until }] of this.#rests) if (until <= now) this.#rests.delete(host);
  }

  /** A tenant who gives up thousands of names pushes out only its own. */
  #makeRoom(): void {
    const counts = new Map<string, number>();
    for (const { owner } of this.#rests.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    const [most = ""] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
    const [oldest] = [...this.#rests].find(([, { owner }]) => owner === most) ?? [];
    if (oldest !== undefined) this.#rests.delete(oldest);
  }
}
