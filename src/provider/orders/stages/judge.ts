import type { BidRecord, OrderRecord } from "../../../client/index.ts";
import { type DecimalCoin, errorText, formatDecShort } from "../../../util/index.ts";
import type { GroupSpec } from "../../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { OrderKey } from "../../../wire/index.ts";
import { groupNeeds } from "../../inventory/index.ts";
import type { OrderOptions } from "../options.ts";
import { Refusal } from "../order.ts";
import { highestPrice, refusal } from "./filters.ts";

export type JudgeOptions = Pick<OrderOptions, "chain" | "obstacle" | "pricing" | "provider">;

/** Whether the provider would bid on an order, and for how much. Each call throws the reason for not bidding; nothing is kept. */
export class Judge {
  readonly #options: JudgeOptions;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** The order and our bid on it, as the chain has them now. */
  async read(id: OrderKey): Promise<{ readonly order: OrderRecord; readonly own: BidRecord | undefined }> {
    const { chain, provider } = this.#options;
    const order = await chain.order(id);
    if (order === undefined) throw new Refusal("gone", "the order is not on the chain");
    if (order.state !== "open") throw new Refusal("gone", `the order is ${order.state}`);
    const own = await chain.bid({ ...id, provider });
    // An earlier release of the chain kept bids that were withdrawn; the next bid replaces them.
    return { order, own: own?.state === "closed" ? undefined : own };
  }

  /** The provider bids at present, and has what the group asks for. */
  async checkOffer(spec: GroupSpec): Promise<void> {
    const { chain, obstacle } = this.#options;
    const closed = await obstacle?.();
    if (closed !== undefined) throw Refusal.hidden(closed.reason, closed.text);
    const { allOf = [], anyOf = [] } = spec.requirements?.signedBy ?? {};
    const reason = refusal(spec, await chain.offer([...allOf, ...anyOf]));
    if (reason !== undefined) throw reason;
  }

  /** The price of a block, at most the highest that the group accepts. */
  async price(owner: string, spec: GroupSpec): Promise<DecimalCoin> {
    const { denom, amount: maxPrice } = highestPrice(spec);
    const request = { owner, rows: groupNeeds(spec), denom, maxPrice };
    const amount = await this.#options.pricing.price(request).catch((error: unknown) => {
      throw Refusal.hidden("noPrice", `no price: ${errorText(error)}`);
    });
    if (amount > maxPrice) {
      const [ours, theirs] = [formatDecShort(amount), formatDecShort(maxPrice)];
      throw new Refusal("price", `our price ${ours}${denom} per block is above the order's ${theirs}${denom}`);
    }
    return { denom, amount };
  }

  /** A full order accepts only a bid that is cheaper than its most expensive one, which is then closed. */
  async checkPlace(id: OrderKey, { amount }: DecimalCoin): Promise<void> {
    const { chain } = this.#options;
    const [bids, { orderMaxBids }] = await Promise.all([chain.openBidPrices(id), chain.marketParams()]);
    if (bids.length < orderMaxBids || bids.some((each) => each > amount)) return;
    throw new Refusal("full", `the order has ${bids.length} open bids already, none of them dearer than ours`);
  }
}
