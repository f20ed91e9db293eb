import type { Logger } from "../../../../util/index.ts";

const EVERY_MS = 60_000;

/** Tells the operator of something that a tenant decides the frequency of: once a minute, with the number of times that were not told. */
export class Notices {
  readonly #log: Logger;
  #next = 0;
  #untold = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  say(message: string, fields: Readonly<Record<string, unknown>>, now = Date.now()): void {
    if (now < this.#next) {
      this.#untold++;
      return;
    }
    this.#log.info(message, this.#untold === 0 ? fields : { ...fields, others: this.#untold });
    this.#next = now + EVERY_MS;
    this.#untold = 0;
  }
}
