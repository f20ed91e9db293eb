import { type Dec, errorText, formatDecShort } from "../../util/index.ts";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { OrderKey } from "../../wire/index.ts";
import { groupNeeds } from "../inventory/index.ts";
import { highestPrice, refusal } from "./filters.ts";
import type { OrderOptions } from "./options.ts";
import { Refusal } from "./order.ts";

export type TermsOptions = Pick<OrderOptions, "chain" | "inventory" | "pricing" | "obstacle">;

/** Whether the provider would bid on a group, and for how much. Each call throws the reason for not bidding; nothing is kept. */
export class Terms {
  readonly #options: TermsOptions;

  constructor(options: TermsOptions) {
    this.#options = options;
  }

  /** The provider is bidding at present, and offers the group's requirements. */
  async checkOffer(spec: GroupSpec): Promise<void> {
    const { chain, obstacle } = this.#options;
    const closed = await obstacle?.();
    if (closed !== undefined) throw Refusal.hidden(closed.reason, closed.text);
    const { allOf = [], anyOf = [] } = spec.requirements?.signedBy ?? {};
    const reason = refusal(spec, await chain.offer([...allOf, ...anyOf]));
    if (reason !== undefined) throw reason;
  }

  /** There is room for the group now. */
  checkRoom(spec: GroupSpec): void {
    try {
      this.#options.inventory.checkRoom(groupNeeds(spec));
    } catch (error) {
      throw new Refusal("capacity", errorText(error));
    }
  }

  /** A full order accepts only a bid that is cheaper than its most expensive one, which is then closed. */
  async checkPlace(id: OrderKey, price: Dec): Promise<void> {
    const { chain } = this.#options;
    const [bids, { orderMaxBids }] = await Promise.all([chain.openBidPrices(id), chain.marketParams()]);
    if (bids.length < orderMaxBids || bids.some((each) => each > price)) return;
    throw new Refusal("full", `the order has ${bids.length} open bids already, none of them dearer than ours`);
  }

  /** The price of a block, at most the highest that the group accepts. */
  async price(owner: string, spec: GroupSpec): Promise<Dec> {
    const max = highestPrice(spec);
    const request = { owner, rows: groupNeeds(spec), denom: max.denom, maxPrice: max.amount };
    const price = await this.#options.pricing.price(request).catch((error: unknown) => {
      throw Refusal.hidden("noPrice", `no price: ${errorText(error)}`);
    });
    if (price > max.amount) {
      const [ours, theirs] = [formatDecShort(price), formatDecShort(max.amount)];
      throw new Refusal("price", `our price ${ours}${max.denom} per block is above the order's ${theirs}${max.denom}`);
    }
    return price;
  }
}
