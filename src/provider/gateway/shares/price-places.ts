import { gatewayErrors } from "../errors.ts";
import type { GatewayLimits } from "../limits.ts";

/** Places for calculations of prices: bids wait for the same script, and one caller leaves others theirs. */
export class PricePlaces {
  readonly #limits: Pick<GatewayLimits, "prices" | "pricesPerCaller">;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(limits: Pick<GatewayLimits, "prices" | "pricesPerCaller">) {
    this.#limits = limits;
  }

  /** Runs the task in a place of the caller; throws where there is none. */
  async run<T>(caller: string, task: () => Promise<T>): Promise<T> {
    const own = this.#taken.get(caller) ?? 0;
    if (this.#all >= this.#limits.prices || own >= this.#limits.pricesPerCaller) {
      throw gatewayErrors.tooMany("too many requests for prices at the moment");
    }
    this.#add(caller, 1);
    try {
      return await task();
    } finally {
      this.#add(caller, -1);
    }
  }

  #add(caller: string, change: 1 | -1): void {
    this.#all += change;
    const own = (this.#taken.get(caller) ?? 0) + change;
    if (own === 0) this.#taken.delete(caller);
    else this.#taken.set(caller, own);
  }
}
