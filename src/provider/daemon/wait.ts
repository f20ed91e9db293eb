import { setTimeout as pause } from "node:timers/promises";
import { errorText, type Logger } from "../../util/index.ts";

const PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;

/** Milliseconds to wait after this many attempts have failed. */
export function growingPauseMs(attempt: number): number {
  return Math.min(PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS);
}

/** Repeats a call until the node answers; the first start may come before the node is up. */
export async function untilAnswered<T>(
  call: () => Promise<T>,
  { log, signal }: { readonly log: Logger; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      log.warn("waiting for the node", { err: errorText(error) });
      await sleep(growingPauseMs(attempt), signal);
    }
  }
}

/** Ends early, and without an error, when the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return pause(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {});
}
