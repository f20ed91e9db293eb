import type { Clock } from "../../util/index.ts";

const MILLISECOND = 1_000_000n;
/**
 * Timers do not notice when the clock is corrected, and the platform's last 24 days at most: the clock is read this
 * often.
 */
const LONGEST_SLEEP_MS = 60_000n;

/**
 * Calls `run` at a fixed interval counted from the first call, so that late calls do not shift the later ones; slots
 * that were missed are left out.
 */
export class Schedule {
  readonly #clock: Clock;
  readonly #interval: bigint;
  readonly #run: () => void;
  #next = 0n;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, intervalMilliseconds: number, run: () => void) {
    this.#clock = clock;
    this.#interval = BigInt(intervalMilliseconds) * MILLISECOND;
    this.#run = run;
  }

  /** The first call comes at `first` (nanoseconds since 1970), or at once if that is past. */
  start(first: bigint): void {
    const now = nanoseconds(this.#clock);
    this.#next = first > now ? first : now;
    this.#arm();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    const wait = (this.#next - nanoseconds(this.#clock) + MILLISECOND - 1n) / MILLISECOND;
    const sleep = wait < LONGEST_SLEEP_MS ? wait : LONGEST_SLEEP_MS;
    this.#cancel = this.#clock.after(sleep > 0n ? Number(sleep) : 0, () => this.#fire());
  }

  #fire(): void {
    if (this.#cancel === undefined) return;
    if (nanoseconds(this.#clock) >= this.#next) this.#call();
    if (this.#cancel !== undefined) this.#arm();
  }

  #call(): void {
    this.#run();
    const late = nanoseconds(this.#clock) - this.#next;
    this.#next += this.#interval * (late > 0n ? late / this.#interval + 1n : 1n);
  }
}

/** The clock's time in the unit of blocks: nanoseconds since 1970. */
export function nanoseconds(clock: Clock): bigint {
  return BigInt(clock.now()) * MILLISECOND;
}
