import { type Logger, tryParseInt } from "../../../util/index.ts";
import { type BidKey, formatOrderId, type OrderKey } from "../../../wire/index.ts";
import type { OpenOrders } from "../../open-orders.ts";
import { LEAST_LOT, LIST_AGAIN_MS, LOT_MS } from "../limits.ts";

/** An event of a block as followed blocks carry it. */
export interface BlockEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

/** An event of the market; `provider` is set if it is about a bid or lease. */
export interface MarketEvent {
  readonly action: string;
  readonly id: OrderKey & Partial<Pick<BidKey, "provider">>;
  /** All attributes of the event, for those who need more than the id. */
  readonly attributes: ReadonlyMap<string, string>;
}

const EVENT_TYPE = "svc.v1";
const MODULES = new Set(["market", "deployment"]);

/**
 * The marketplace events of a block, in order. Group and deployment events have 0 for the sequences they do not name.
 */
export function marketEvents(events: readonly BlockEvent[]): MarketEvent[] {
  return events.flatMap((event) => {
    if (event.type !== EVENT_TYPE) return [];
    const attributes = new Map(event.attributes.map(({ key, value }) => [key, value]));
    const owner = attributes.get("owner");
    if (owner === undefined || !MODULES.has(attributes.get("module") ?? "")) return [];
    const number = (key: string) => tryParseInt(attributes.get(key) ?? "0") ?? 0n;
    const provider = attributes.get("provider");
    const id = { owner, dseq: number("dseq"), gseq: Number(number("gseq")), oseq: Number(number("oseq")) };
    const action = attributes.get("action") ?? "";
    return [{ action, id: provider === undefined ? id : { ...id, provider }, attributes }];
  });
}

/** Load of the provider. */
export interface Load {
  readonly now: number;
  /** Orders that can be checked beside those that are. */
  readonly free: number;
  /** Whether many orders wait. */
  readonly isCrowded: boolean;
}

/**
 * Open orders on the chain that the provider does not keep in mind: those of a start, and those that found no place. Each
 * list is taken up lot by lot, so a crowd of cheap orders costs the daemon no more at a time than a few.
 */
export class Listing {
  readonly #list: () => Promise<OpenOrders>;
  readonly #log: Logger;
  /** The next one last. */
  #rest: OrderKey[] = [];
  /** An order has found no place since the last list. */
  #isMissing = false;
  #listedAt = 0;
  #nextLotAt = 0;

  constructor(list: () => Promise<OpenOrders>, log: Logger) {
    this.#list = list;
    this.#log = log;
  }

  /** Lists the orders anew; those that are first go to the front. Rejects if the chain cannot be queried. */
  async read(now: number, isFirst: (order: string) => boolean): Promise<void> {
    this.#isMissing = false;
    this.#listedAt = now;
    try {
      const { ids, isWhole } = await this.#list();
      if (!isWhole) this.#isMissing = true;
      const first = ids.filter((id) => isFirst(formatOrderId(id)));
      const others = first.length === 0 ? ids : ids.filter((id) => !isFirst(formatOrderId(id)));
      this.#rest = [...first, ...others].reverse();
      this.#nextLotAt = now;
      this.#log.info("found orders", { module: "bidengine-service", count: ids.length });
    } catch (error) {
      this.#isMissing = true;
      throw error;
    }
  }

  /** An order found no place. */
  missed(): void {
    this.#isMissing = true;
  }

  /** The next lot of the list, once it is due. */
  take({ now, free, isCrowded }: Load): OrderKey[] {
    if (now < this.#nextLotAt) return [];
    this.#nextLotAt = now + LOT_MS;
    const most = Math.min(Math.max(0, free), isCrowded ? LEAST_LOT : free);
    return this.#rest.splice(Math.max(0, this.#rest.length - most)).reverse();
  }

  /** Whether orders found no place since the last list, which is over; a crowd that waits delays the next one. */
  isDue({ now, free, isCrowded }: Load): boolean {
    if (!this.#isMissing || this.#rest.length > 0 || free <= 0) return false;
    return now - this.#listedAt >= (isCrowded ? LIST_AGAIN_MS : LOT_MS);
  }
}
