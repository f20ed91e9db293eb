/** Lets one waiter sleep until it is woken, some time has passed or it has to stop. */
export class Wake {
  #woken = false;
  #rouse: (() => void) | undefined;

  /** Ends the current sleep, or the next one at once. */
  wake(): void {
    this.#woken = true;
    this.#rouse?.();
  }

  /** Whether it was woken: not at the end of the time, and not by the signal. */
  async sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.#woken && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const rouse = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", rouse);
          resolve();
        };
        const timer = setTimeout(rouse, ms);
        this.#rouse = rouse;
        signal?.addEventListener("abort", rouse);
      });
    }
    const isWoken = this.#woken && signal?.aborted !== true;
    this.#rouse = undefined;
    this.#woken = false;
    return isWoken;
  }
}
