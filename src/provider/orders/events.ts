import { tryParseInt } from "../../util/index.ts";
import type { BidKey, OrderKey } from "../../wire/index.ts";

/** An event of a block as followed blocks carry it. */
export interface BlockEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

/** An event of the market; `provider` is set for bids and leases. */
export interface MarketEvent {
  readonly action: string;
  readonly id: OrderKey & Partial<Pick<BidKey, "provider">>;
  /** All attributes of the event, for consumers that need more than the id. */
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
