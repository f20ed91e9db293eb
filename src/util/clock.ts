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
