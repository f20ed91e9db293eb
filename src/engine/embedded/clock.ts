/** Where the engine takes the time from; tests bring their own. */
export interface Clock {
  /** Nanoseconds since 1970. */
  now(): bigint;
  /** Calls back after some milliseconds unless cancelled before. */
  after(milliseconds: number, run: () => void): { cancel(): void };
}

const MILLISECOND = 1_000_000n;

export const systemClock: Clock = {
  now: () => BigInt(Date.now()) * MILLISECOND,
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return { cancel: () => clearTimeout(timer) };
  },
};
