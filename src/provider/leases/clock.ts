/** Time as the lease machines see it, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs the task once, later; returns the function that cancels it. */
  after(milliseconds: number, task: () => void): () => void;
  /** From 0 up to 1. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, task) {
    const timer = setTimeout(task, milliseconds);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};
