import { setTimeout as pause } from "node:timers/promises";
import { deployErrors } from "./errors.ts";

/** Time as a deployment sees it. */
export interface Clock {
  /** Milliseconds from any fixed moment. */
  now(): number;
  /** Rejects with `deployErrors.interrupted` when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  async sleep(ms, signal) {
    checkInterrupted(signal);
    await pause(ms, undefined, { signal }).catch(() => checkInterrupted(signal));
  },
};

export function checkInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw deployErrors.interrupted();
}

/**
 * The answer of some work, or the interruption where that comes first. Work that has begun goes on unheard; after the
 * interruption none begins.
 */
export async function unlessInterrupted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  checkInterrupted(signal);
  let stop = (): void => {};
  const interruption = new Promise<never>((_, reject) => {
    stop = () => reject(deployErrors.interrupted());
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work(), interruption]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
