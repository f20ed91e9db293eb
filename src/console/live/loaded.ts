/** Pause before what was cut off is loaded again. */
const PAUSE_MS = 2_000;
/** A fault of the page itself is a `TypeError` too, and ends as one. */
const TRIES = 60;

/** Runs a step again while the network fails it, which browsers tell by a `TypeError`: one that changes cuts off what is loading. */
export async function untilLoaded<T>(step: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left--) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof TypeError) || left <= 1) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
