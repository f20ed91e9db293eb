/** The longest wait of a test: machines differ in speed, and tests share one. It makes nothing longer but a wait in vain. */
export const PATIENCE_MS = 120_000;

/** Pauses between two looks: short at first, for what is nearly there, and longer where the look itself would slow what it waits for. */
const FIRST_POLL_MS = 20;
const POLL_GROWTH = 1.25;
const LAST_POLL_MS = 150;

export interface WaitSettings {
  readonly timeoutMs?: number;
  /** The same pause each time. */
  readonly pollMs?: number;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/**
 * Asks until the answer is neither undefined nor false, and returns it. An error that the question throws counts as
 * "not yet" and is reported when the time is over: `what` completes the sentence "waited in vain for ...".
 */
export async function waitFor<T>(
  question: () => T | Promise<T>,
  what: string,
  settings: WaitSettings = {},
): Promise<Exclude<T, undefined | false>> {
  const { timeoutMs = PATIENCE_MS, pollMs } = settings;
  let pauseMs = pollMs ?? FIRST_POLL_MS;
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      const answer = await question();
      if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await pause(pauseMs);
    if (pollMs === undefined) pauseMs = Math.min(pauseMs * POLL_GROWTH, LAST_POLL_MS);
  } while (performance.now() < deadline);
  const last = cause instanceof Error ? `; the last answer was: ${cause.message}` : "";
  throw new Error(`waited in vain ${timeoutMs / 1000} s for ${what}${last}`, { cause });
}
