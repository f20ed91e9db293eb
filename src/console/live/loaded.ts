/** Pause before what was cut off is loaded again. */
const PAUSE_MS = 2_000;

/** Runs a step again while the network fails it, which browsers tell by a `TypeError`: one that changes cuts off what is loading. */
export async function untilLoaded<T>(step: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
