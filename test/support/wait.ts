/** The longest wait of a test: machines differ in speed, and tests share one. It makes nothing longer but a wait in vain. */
export const PATIENCE_MS = 120_000;

const DEFAULT_POLL_MS = 50;

export interface WaitSettings {
  readonly timeoutMs?: number;
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
  const { timeoutMs = PATIENCE_MS, pollMs = DEFAULT_POLL_MS } = settings;
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
    await pause(pollMs);
  } while (performance.now() < deadline);
  const last = cause instanceof Error ? `; the last answer was: ${cause.message}` : "";
  throw new Error(`waited in vain ${timeoutMs / 1000} s for ${what}${last}`, { cause });
}
