/** Time as a program sees it, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970, or from any fixed moment if only spans matter. */
  now(): number;
  /** Runs the task once, later; returns the function that cancels it. */
  after(milliseconds: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, task) {
    const timer = setTimeout(task, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** For spans: it runs evenly even when the time of the machine is changed. */
export const steadyClock: Clock = { ...systemClock, now: () => performance.now() };

/** The machine's time at the start of the process, and from then on evenly: for spans that outlast a process. */
export const evenClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() };

/** Resolves with the task, or when it has taken too long; the task goes on. */
export async function waitAtMost(clock: Clock, milliseconds: number, task: Promise<unknown>): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(milliseconds, resolve);
  });
  await Promise.race([task, late]).finally(() => cancel());
}

/** The result of some work, or the signal's reason if that comes first: then the work goes on, and its end is ignored. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", stop));
}
