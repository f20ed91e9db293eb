/** Lets one waiter sleep until it is woken, some time has passed or it has to stop. */
export class Wake {
  #woken = false;
  #rouse: (() => void) | undefined;

  /** Ends the current sleep, or the next one at once. */
  wake(): void {
    this.#woken = true;
    this.#rouse?.();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.#woken || signal?.aborted === true) {
      this.#woken = false;
      return;
    }
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
    this.#rouse = undefined;
    this.#woken = false;
  }
}
