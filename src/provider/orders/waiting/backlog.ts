import { errorText, type Logger } from "../../../util/index.ts";
import { formatOrderId, type OrderKey } from "../../../wire/index.ts";
import type { OpenOrders } from "../../open-orders.ts";

/** Orders that are looked at for the first time, or again, at once: the others wait as their ids alone. */
export const MAX_LOOKS = 1_000;
/** Of a pass that has begun, so many are taken up in each lot however many wait: otherwise a crowd could keep the rest out. */
const LEAST_LOT = 100;
/**
 * Times between lots for which a crowd that waits can put off the next pass, which then begins all the same: whoever keeps many orders
 * waiting must not keep those that found no place from being looked at for ever.
 */
const MOST_PAUSES = 60;
/** Between two lots of them, so that the daemon and its node have time for everything else. */
const LOT_MS = 5_000;

export interface BacklogOptions {
  readonly list: () => Promise<OpenOrders>;
  /** Whether the order is one that is taken first: the provider has a bid on it. */
  readonly isFirst: (text: string) => boolean;
  /** How many orders can be taken up now, the least of them however many wait. */
  readonly places: (least: number) => number;
  /** Takes an order up, unless it is known. */
  readonly begin: (id: OrderKey) => void;
  readonly log: Logger;
}

/**
 * Orders on the chain for which there was no place. Each pass lists them once and takes up what there is a place for, lot by lot,
 * until all of them had their turn: so none is forgotten, and a crowd of cheap orders costs the daemon no more at a time
 * than a few.
 */
export class Backlog {
  readonly #options: BacklogOptions;
  #rest: OrderKey[] = [];
  /** An order found no place since the last pass began. */
  #missed = false;
  /** Times that the next pass was put off. */
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  /** Lists the orders, and takes up the first of them. Rejects if the chain cannot be queried. */
  async begin(): Promise<void> {
    this.#missed = false;
    const { list, isFirst, log } = this.#options;
    const { ids, isWhole } = await list();
    if (!isWhole) this.#missed = true;
    const first = ids.filter((id) => isFirst(formatOrderId(id)));
    this.#pauses = 0;
    const others = first.length === 0 ? ids : ids.filter((id) => !isFirst(formatOrderId(id)));
    // Taken from the end.
    this.#rest = [...first, ...others].reverse();
    log.info("found orders", { module: "bidengine-service", count: ids.length });
    this.#takeLot();
  }

  /** An order found no place. */
  missed(): void {
    this.#missed = true;
    this.#later();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #takeLot(): void {
    const { places, begin } = this.#options;
    const lot = Math.min(places(LEAST_LOT), this.#rest.length);
    for (let at = 0; at < lot; at++) {
      const id = this.#rest.pop();
      if (id !== undefined) begin(id);
    }
    this.#later();
  }

  #later(): void {
    if (this.#stopped || this.#timer !== undefined || (this.#rest.length === 0 && !this.#missed)) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#rest.length > 0) return this.#takeLot();
      this.#pauses += 1;
      if (this.#pauses >= MOST_PAUSES || this.#options.places(0) > 0) return this.#again();
      this.#later();
    }, LOT_MS);
  }

  #again(): void {
    this.begin().catch((error: unknown) => {
      this.#options.log.warn("orders could not be listed", { err: errorText(error) });
      this.missed();
    });
  }
}
