import type { BidRecord } from "../../../client/index.ts";
import { Recent, tryParseDec } from "../../../util/index.ts";
import { Closed_Reason } from "../../../wire/gen/svc/base/v1beta1/base_pb.js";
import { COUNTED, MAX_BIDS } from "../limits.ts";
import { ENDED, ENDINGS, type Ending, type Tracked } from "../order.ts";
import type { MarketEvent } from "./watch.ts";

/** Next step of an order and of our bid on it. */
export type Fate =
  | { readonly next: "stay" | "won" | "open" }
  /** No bid of ours is there, and none will follow. */
  | { readonly next: "over"; readonly phase: "lost" | "closed"; readonly ending: Ending }
  /** No bid of ours is there; another one follows after a pause. */
  | { readonly next: "pause"; readonly ending: Ending }
  /** Only the chain knows what became of the bid. */
  | { readonly next: "ask"; readonly ending: Ending };

type Followed = Pick<Tracked, "phase" | "ending">;

/** The chain's reason for the end of a bid whose place a cheaper one took. */
const OUTBID = Closed_Reason[Closed_Reason.outbid];
const STAY: Fate = { next: "stay" };
const over = (phase: "lost" | "closed", ending: Ending): Fate => ({ next: "over", phase, ending });

/** After an event of a block. One about an earlier bid may come while the order has another one. */
export function fateByEvent(order: Followed, { action, id, attributes }: MarketEvent, us: string): Fate {
  const isOurs = id.provider === us;
  if (action === "lease-created" && isOurs) return { next: "won" };
  if (ENDED.has(order.phase)) return STAY;
  if (action === "lease-created") return over("lost", "lease lost");
  if (action === "order-closed") return over("closed", "order closed");
  if (action === "bid-closed" && isOurs) return fateOfClosed(order);
  if (action !== "bid-lost" || !isOurs) return STAY;
  return attributes.get("reason") === OUTBID ? fateOfOutbid(order) : over("lost", "bid lost");
}

/** The provider and price of a new lease. */
export function winnerOf({ id, attributes }: MarketEvent): Pick<Tracked, "winner"> {
  const price = tryParseDec(attributes.get("price-amount") ?? "");
  return id.provider === undefined || price === undefined ? {} : { winner: { provider: id.provider, price } };
}

function fateOfClosed(order: Followed): Fate {
  if (order.phase === "withdrawing") return fateWithoutBid(order);
  return order.phase === "open" ? { next: "ask", ending: order.ending ?? "bid closed" } : STAY;
}

/** The order stays open: we bid again when there is room, or when the most expensive bid costs more than ours. */
function fateOfOutbid(order: Followed): Fate {
  if (order.phase === "withdrawing") return fateWithoutBid(order);
  // The block of the bid may also hold the cheaper one.
  return order.phase === "open" || order.phase === "bidding" ? { next: "pause", ending: "outbid" } : STAY;
}

/** After an answer of the chain about a bid that is being withdrawn. */
export function fateByState(order: Followed, state: BidRecord["state"] | undefined): Fate {
  if (order.phase !== "withdrawing") return STAY;
  if (state === "active") return { next: "won" };
  if (state === "open") return { next: "open" };
  return state === "lost" ? over("lost", "bid lost") : fateWithoutBid(order);
}

/** The bid that was being withdrawn has left the chain without a lease. */
export function fateWithoutBid({ ending = "bid timeout" }: Followed): Fate {
  return "again" in ENDINGS[ending] ? { next: "pause", ending } : over("lost", ending);
}

/** Where an order stands between two bids. */
interface Pause {
  /** Bids on the order that ended without a lease. */
  readonly bids: number;
  /** When the order may have the next bid, in milliseconds since 1970; Infinity after the last. */
  readonly until: number;
  /** Why the last bid ended. */
  readonly reason: string;
}

/** Pauses between bids on one order. Each is twice as long as the one before, so the fees for an order are bounded. */
export class Pauses {
  readonly #pauses = new Recent<string, Pause>(COUNTED);

  /** A bid has ended without a lease; `firstMs` is the length of the first pause. */
  begin(order: string, { now, firstMs, reason }: { now: number; firstMs: number; reason: string }): void {
    const bids = (this.#pauses.get(order)?.bids ?? 0) + 1;
    const until = bids < MAX_BIDS ? now + firstMs * 2 ** (bids - 1) : Number.POSITIVE_INFINITY;
    this.#pauses.set(order, { bids, until, reason });
  }

  find(order: string): Pause | undefined {
    return this.#pauses.get(order);
  }
}
