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
  type DeploymentKey,
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

/** Records of the market and the ways to find them. The keeper holds the rules. */
export class MarketBook {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly orders = orderTable();
  readonly bids = bidRecords();
  readonly leases = leaseRecords();
  /** Open orders by the height at which they expire. */
  readonly expiry = queue({ name: "order expiry", prefix: 0x40, key: orderPath });
  /** Orders whose expiry failed, by the height of the next try. */
  readonly retries = queue({ name: "expiry retries", prefix: 0x41, key: orderPath });
  /** Orders that ended and still have open bids, by the height at which they ended. */
  readonly ending = queue({ name: "bids to end", prefix: 0x42, key: orderPath });

  constructor() {
    const { params, orders, bids, leases, expiry, retries, ending } = this;
    checkPrefixes({ params, orders, bids, leases, expiry, retries, ending });
  }

  getParams(ctx: Context): Params {
    return this.params.require(ctx.plainStore(STORE));
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

  /** Without what the group asks for, which is stored with the group alone. */
  saveOrder(ctx: Context, { spec: _, ...order }: Order): void {
    this.orders.set(storeOf(ctx), pathOf(orderIdOf(order)), order);
  }

  saveBid(ctx: Context, bid: Bid): void {
    this.bids.set(storeOf(ctx), bidPathOf(bidIdOf(bid)), bid);
  }

  removeBid(ctx: Context, id: BidKey): void {
    this.bids.delete(storeOf(ctx), bidPathOf(id));
  }

  saveLease(ctx: Context, lease: Lease): void {
    this.leases.set(storeOf(ctx), bidPathOf(leaseIdOf(lease)), lease);
  }

  /** The newest order of a group. */
  lastOrder(ctx: Context, group: GroupKey): Order | undefined {
    for (const order of this.orders.values(storeOf(ctx), { prefix: groupPathOf(group), reverse: true })) return order;
    return undefined;
  }

  /** The first open bids of an order, by provider. */
  openBids(ctx: Context, id: OrderKey, most: number): Bid[] {
    const found: Bid[] = [];
    for (const path of this.#openBidPaths(ctx, id)) {
      if (found.length === most) break;
      found.push(this.bids.require(storeOf(ctx), path));
    }
    return found;
  }

  /** Whether any order of a deployment has an open bid. */
  hasOpenBids(ctx: Context, { owner, dseq }: DeploymentKey): boolean {
    for (const _ of this.bids.by.owner.keys(storeOf(ctx), { prefix: [decodeAddress(owner), Bid_State.open, dseq] }))
      return true;
    return false;
  }

  /** Orders of a deployment, from the newest of its last group on. */
  ordersBackwards(ctx: Context, { owner, dseq }: DeploymentKey): IterableIterator<Order> {
    return this.orders.values(storeOf(ctx), { prefix: [decodeAddress(owner), dseq], reverse: true });
  }

  hasOpenBid(ctx: Context, id: OrderKey): boolean {
    for (const _ of this.#openBidPaths(ctx, id)) return true;
    return false;
  }

  openBidCount(ctx: Context, id: OrderKey): number {
    const [owner, dseq, gseq, oseq] = pathOf(id);
    return this.bids.by.owner.count(storeOf(ctx), { prefix: [owner, Bid_State.open, dseq, gseq, oseq] });
  }

  /** The active lease of an order. */
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

  firstActiveLeases(ctx: Context, provider: string, most: number): Lease[] {
    const found: Lease[] = [];
    for (const lease of this.activeLeasesOf(ctx, provider)) {
      if (found.length === most) break;
      found.push(lease);
    }
    return found;
  }

  *openBidsOf(ctx: Context, provider: string): IterableIterator<Bid> {
    const prefix = [decodeAddress(provider), Bid_State.open] as const;
    for (const [, bid] of this.bids.by.provider.iterate(storeOf(ctx), { prefix })) yield bid;
  }

  openBidCountOf(ctx: Context, provider: string): number {
    return this.bids.by.provider.count(storeOf(ctx), { prefix: [decodeAddress(provider), Bid_State.open] });
  }

  /** Queues an open order for its expiry. */
  awaitExpiry(ctx: Context, order: Order): void {
    this.expiry.push(storeOf(ctx), order.expiresAt, pathOf(orderIdOf(order)));
  }

  /** Queues an order whose expiry failed for another try. */
  restoreRetry(ctx: Context, id: OrderKey, height: bigint): void {
    if (height < 0n) throw errors.internal(`${formatOrderId(id)} is tried again at ${height}`);
    const order = this.findOrder(ctx, id);
    if (order !== undefined) this.expiry.remove(storeOf(ctx), order.expiresAt, pathOf(id));
    this.retries.push(storeOf(ctx), height, pathOf(id));
  }

  /** Queues the open bids of an order that ended for the end of a block; `height` is that of `endedAt`. */
  awaitEnding(ctx: Context, id: OrderKey, height: bigint): void {
    if (height !== 0n && this.hasOpenBid(ctx, id)) this.ending.push(storeOf(ctx), height, pathOf(id));
  }

  /** Removes an order from the queue when all its bids have ended. */
  endingDone(ctx: Context, id: OrderKey): void {
    if (!this.hasOpenBid(ctx, id)) this.ending.remove(storeOf(ctx), this.endedAt(ctx, id), pathOf(id));
  }

  /**
   * The height from which an order took no more bids because it was matched or closed; 0 while it is open, and if that
   * was before this chain.
   */
  endedAt(ctx: Context, id: OrderKey): bigint {
    const height = this.anyLease(ctx, id)?.createdAt ?? this.order(ctx, id).closedOn;
    return height < 0n ? 0n : height;
  }

  /** The lease that an order has or had. */
  anyLease(ctx: Context, id: OrderKey): Lease | undefined {
    for (const lease of this.leases.values(storeOf(ctx), { prefix: pathOf(id) })) return lease;
    return undefined;
  }

  /** Saves an order in a state in which it no longer expires. */
  saveNotOpen(ctx: Context, order: Order): void {
    this.expiry.remove(storeOf(ctx), order.expiresAt, pathOf(orderIdOf(order)));
    this.saveOrder(ctx, order);
  }

  #openBidPaths(ctx: Context, id: OrderKey) {
    const [owner, dseq, gseq, oseq] = pathOf(id);
    return this.bids.by.owner.keys(storeOf(ctx), { prefix: [owner, Bid_State.open, dseq, gseq, oseq] });
  }
}

export function isOpenOrder({ state }: Order): boolean {
  return state === Order_State.open;
}

export function storeOf(ctx: Context): KVStore {
  return ctx.store(STORE);
}
