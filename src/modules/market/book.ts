import { type Context, paramsItem } from "../../runtime/index.ts";
import { checkPrefixes, type KVStore, queue } from "../../store/index.ts";
import {
  type Bid,
  Bid_State,
  type Lease,
  Lease_State,
  type Order,
  Order_State,
  type Params,
  ParamsSchema,
} from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import {
  type BidKey,
  decodeAddress,
  marketErrors as errors,
  formatBidId,
  formatLeaseId,
  formatOrderId,
  type GroupKey,
  type OrderKey,
} from "../../wire/index.ts";
import {
  bidIdOf,
  bidPathOf,
  bidRecords,
  groupPathOf,
  leaseIdOf,
  leaseRecords,
  orderIdOf,
  orderPath,
  orderTable,
  pathOf,
} from "./records.ts";

export const STORE = "market";

/** Records of the market and the ways to find them. The rules are the keeper's. */
export class MarketBook {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly orders = orderTable();
  readonly bids = bidRecords();
  readonly leases = leaseRecords();
  /** Open orders by the height at which they expire. */
  readonly expiry = queue({ name: "order expiry", prefix: 0x40, key: orderPath });
  /** Orders whose expiry failed, by the height at which it is tried again. */
  readonly retries = queue({ name: "expiry retries", prefix: 0x41, key: orderPath });

  constructor() {
    const { params, orders, bids, leases, expiry, retries } = this;
    checkPrefixes({ params, orders, bids, leases, expiry, retries });
  }

  getParams(ctx: Context): Params {
    return this.params.require(storeOf(ctx));
  }

  findOrder(ctx: Context, id: OrderKey): Order | undefined {
    return this.orders.get(storeOf(ctx), pathOf(id));
  }

  order(ctx: Context, id: OrderKey): Order {
    const found = this.findOrder(ctx, id);
    if (found === undefined) throw errors.orderNotFound(formatOrderId(id));
    return found;
  }

  findBid(ctx: Context, id: BidKey): Bid | undefined {
    return this.bids.get(storeOf(ctx), bidPathOf(id));
  }

  bid(ctx: Context, id: BidKey): Bid {
    const found = this.findBid(ctx, id);
    if (found === undefined) throw errors.bidNotFound(formatBidId(id));
    return found;
  }

  findLease(ctx: Context, id: BidKey): Lease | undefined {
    return this.leases.get(storeOf(ctx), bidPathOf(id));
  }

  lease(ctx: Context, id: BidKey): Lease {
    const found = this.findLease(ctx, id);
    if (found === undefined) throw errors.leaseNotFound(formatLeaseId(id));
    return found;
  }

  /** Without what the group asks for, which stands with the group alone. */
  saveOrder(ctx: Context, { spec: _, ...order }: Order): void {
    this.orders.set(storeOf(ctx), pathOf(orderIdOf(order)), order);
  }

  saveBid(ctx: Context, bid: Bid): void {
    this.bids.set(storeOf(ctx), bidPathOf(bidIdOf(bid)), bid);
  }

  saveLease(ctx: Context, lease: Lease): void {
    this.leases.set(storeOf(ctx), bidPathOf(leaseIdOf(lease)), lease);
  }

  /** The newest order of a group. */
  lastOrder(ctx: Context, group: GroupKey): Order | undefined {
    for (const order of this.orders.values(storeOf(ctx), { prefix: groupPathOf(group), reverse: true })) return order;
    return undefined;
  }

  /** Open bids of an order, by provider. */
  openBids(ctx: Context, id: OrderKey): Bid[] {
    const [owner, dseq, gseq, oseq] = pathOf(id);
    const prefix = [owner, Bid_State.open, dseq, gseq, oseq] as const;
    return [...this.bids.by.owner.iterate(storeOf(ctx), { prefix })].map(([, bid]) => bid);
  }

  openBidCount(ctx: Context, id: OrderKey): number {
    const [owner, dseq, gseq, oseq] = pathOf(id);
    return this.bids.by.owner.count(storeOf(ctx), { prefix: [owner, Bid_State.open, dseq, gseq, oseq] });
  }

  /** The lease of an order that is active. */
  activeLease(ctx: Context, id: OrderKey): Lease | undefined {
    const [owner, dseq, gseq, oseq] = pathOf(id);
    const prefix = [owner, Lease_State.active, dseq, gseq, oseq] as const;
    for (const [, lease] of this.leases.by.owner.iterate(storeOf(ctx), { prefix })) return lease;
    return undefined;
  }

  /** A provider's active leases, in the order of their ids. */
  *activeLeasesOf(ctx: Context, provider: string): IterableIterator<Lease> {
    const prefix = [decodeAddress(provider), Lease_State.active] as const;
    for (const [, lease] of this.leases.by.provider.iterate(storeOf(ctx), { prefix })) yield lease;
  }

  *openBidsOf(ctx: Context, provider: string): IterableIterator<Bid> {
    const prefix = [decodeAddress(provider), Bid_State.open] as const;
    for (const [, bid] of this.bids.by.provider.iterate(storeOf(ctx), { prefix })) yield bid;
  }

  openBidCountOf(ctx: Context, provider: string): number {
    return this.bids.by.provider.count(storeOf(ctx), { prefix: [decodeAddress(provider), Bid_State.open] });
  }

  /** Lets an open order wait for its expiry. */
  awaitExpiry(ctx: Context, order: Order): void {
    this.expiry.push(storeOf(ctx), order.expiresAt, pathOf(orderIdOf(order)));
  }

  /** Saves an order in a state in which it no longer expires. */
  saveNotOpen(ctx: Context, order: Order): void {
    this.expiry.remove(storeOf(ctx), order.expiresAt, pathOf(orderIdOf(order)));
    this.saveOrder(ctx, order);
  }
}

export function isOpenOrder({ state }: Order): boolean {
  return state === Order_State.open;
}

export function storeOf(ctx: Context): KVStore {
  return ctx.store(STORE);
}
