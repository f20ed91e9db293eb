import { type Clock, unlessAborted } from "../../util/index.ts";
import { deployErrors } from "./errors.ts";

/** Waits. Rejects with `deployErrors.interrupted` when the signal is aborted. */
export async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  checkInterrupted(signal);
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(deployErrors.interrupted());
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    signal.addEventListener("abort", stop, { once: true });
  });
}

export function checkInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw deployErrors.interrupted();
}

/**
 * The result of some work, or the interruption if that comes first. Work that has begun continues, but its result is
 * ignored; no work begins after the interruption.
 */
export async function unlessInterrupted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  checkInterrupted(signal);
  try {
    return await unlessAborted(work(), signal);
  } catch (error) {
    checkInterrupted(signal);
    throw error;
  }
}
