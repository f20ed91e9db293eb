import { create } from "@bufbuild/protobuf";
import { type Context, runBlockItem } from "../../runtime/index.ts";
import { groupPrice, hasCapabilities, meetsRequirements } from "../../sdl/index.ts";
import { type DecimalCoin, formatCoin, formatDecCoin, type IntCoin, sdkErrors, tryParseInt } from "../../util/index.ts";
import { type Attribute, Closed_Reason, type PlacementRequirements } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import {
  type Deployment,
  type Group,
  Group_State,
  type GroupSpec,
} from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import {
  type Bid,
  Bid_State,
  BidSchema,
  type Lease,
  Lease_State,
  LeaseSchema,
  type Order,
  Order_State,
  OrderSchema,
} from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import {
  type BidKey,
  type DeploymentKey,
  marketErrors as errors,
  formatBidId,
  formatDeploymentId,
  formatGroupId,
  formatLeaseId,
  formatOrderId,
  formatPaymentId,
  type GroupKey,
  type OrderKey,
} from "../../wire/index.ts";
import { escrowId, type PrunedOrders } from "../deployment/index.ts";
import type { Escrow } from "../escrow/index.ts";
import { isOpenOrder, MarketBook, storeOf } from "./book.ts";
import { emitBid, emitOrder } from "./events.ts";
import { pruneOrders } from "./pruning.ts";
import { bidEscrowId, bidIdOf, leaseIdOf, type OrderPath, orderIdOf, orderOfPath, pathOf, priceOf } from "./records.ts";

/** An order whose expiry failed is retried after this many blocks; others do not wait for it. */
const RETRY_BLOCKS = 100n;

/** Functions of deployments that the market needs. */
export interface MarketGroups {
  getParams(ctx: Context): { readonly minStartBlocks: bigint };
  deployment(ctx: Context, id: DeploymentKey): Deployment;
  findGroup(ctx: Context, id: GroupKey): Group | undefined;
  /** The spec of a group. */
  spec(ctx: Context, id: GroupKey): GroupSpec;
  /** Opens the group's next order, if its money lasts for a new lease. */
  reopenGroup(ctx: Context, id: GroupKey): number;
  /** The market has ended what the open group had there. */
  marketEnded(ctx: Context, id: GroupKey, reason: Closed_Reason): void;
}

/** Functions of providers that the market needs. */
export interface MarketProviders {
  exists(ctx: Context, owner: string): boolean;
  attributes(ctx: Context, owner: string): readonly Attribute[];
}

/** Functions of audits that the market needs. */
export interface MarketAudits {
  signedAttributes(ctx: Context, owner: string, auditor: string): readonly Attribute[];
}

export interface MarketDeps {
  readonly escrow: Escrow;
  readonly groups: MarketGroups;
  readonly providers: MarketProviders;
  readonly audits: MarketAudits;
}

export interface NewBid {
  readonly order: OrderKey;
  readonly provider: string;
  readonly price: DecimalCoin;
  readonly deposit: IntCoin;
}

/** Orders, bids and leases: an order is opened for a group, providers bid, the owner accepts a bid, a lease runs. */
export class MarketKeeper {
  readonly book = new MarketBook();
  readonly #escrow: Escrow;
  readonly #groups: MarketGroups;
  readonly #providers: MarketProviders;
  readonly #audits: MarketAudits;

  constructor({ escrow, groups, providers, audits }: MarketDeps) {
    this.#escrow = escrow;
    this.#groups = groups;
    this.#providers = providers;
    this.#audits = audits;
  }

  /** Opens the next order of a group and returns its sequence number. */
  openOrder(ctx: Context, group: GroupKey): number {
    const last = this.book.lastOrder(ctx, group);
    if (last !== undefined && last.state !== Order_State.closed)
      throw errors.orderExists(formatOrderId(orderIdOf(last)));
    const oseq = last === undefined ? 1 : orderIdOf(last).oseq + 1;
    const order = create(OrderSchema, {
      orderId: { ...group, oseq },
      state: Order_State.open,
      createdAt: ctx.height,
      expiresAt: ctx.height + this.book.getParams(ctx).orderMaxOpenBlocks,
    });
    this.book.saveOrder(ctx, order);
    this.book.awaitExpiry(ctx, order);
    emitOrder(ctx, "order-created", orderIdOf(order));
    return oseq;
  }

  /** Ends what a group has on the market: its open order, or its lease. Returns how many were ended. */
  closeGroup(ctx: Context, group: GroupKey, reason: Closed_Reason): number {
    const order = this.book.lastOrder(ctx, group);
    if (order === undefined || order.state === Order_State.closed) return 0;
    if (isOpenOrder(order)) this.#endOrder(ctx, order, reason);
    else this.#endLease(ctx, this.#leaseOf(ctx, order), reason);
    return 1;
  }

  createBid(ctx: Context, { order: orderId, provider, price, deposit }: NewBid): BidKey {
    const id = { ...orderId, provider };
    this.#checkDeposit(ctx, deposit);
    const order = this.book.order(ctx, orderId);
    if (order.state === Order_State.active) throw errors.orderActive(formatOrderId(orderId));
    if (order.state !== Order_State.open) throw errors.orderClosed(formatOrderId(orderId));
    const displaced = this.#displacedBy(ctx, orderId, price);
    const spec = this.#groups.spec(ctx, orderId);
    checkPrice(spec, price);
    this.#checkProvider(ctx, spec, provider);
    const earlier = this.book.findBid(ctx, id);
    if (earlier?.state === Bid_State.open) throw errors.bidExists(formatBidId(id));
    // An earlier release kept bids that were withdrawn.
    if (earlier !== undefined) this.#forgetBid(ctx, id);
    if (displaced !== undefined) this.#displace(ctx, displaced);
    const bid = { bidId: id, state: Bid_State.open, price: wirePrice(price), createdAt: ctx.height };
    this.book.saveBid(ctx, create(BidSchema, bid));
    this.#escrow.openAccount(ctx, { id: bidEscrowId(id), owner: provider, depositor: provider, deposit });
    emitBid(ctx, "bid-created", id, { price });
    return id;
  }

  /** The provider withdraws an open bid, or ends the lease that its bid won; the group then waits for its owner. */
  closeBid(ctx: Context, id: BidKey, reason: Closed_Reason): void {
    const known = this.book.findBid(ctx, id);
    if (known === undefined) throw errors.unknownBid(formatBidId(id));
    if (this.book.findOrder(ctx, id) === undefined) throw errors.noOrderForBid(formatBidId(id));
    if (known.state === Bid_State.active) this.#escrow.bringUpToDate(ctx, escrowId(id));
    const bid = this.book.bid(ctx, id);
    if (bid.state === Bid_State.open) {
      this.#withdrawBid(ctx, bid, reason);
      return;
    }
    if (bid.state !== Bid_State.active) throw errors.bidNotOpen(`${formatBidId(id)} is ${Bid_State[bid.state]}`);
    const lease = this.book.findLease(ctx, id);
    if (lease === undefined) throw errors.noLeaseForBid(formatBidId(id));
    if (lease.state !== Lease_State.active) throw errors.leaseNotActive(formatLeaseId(id));
    this.#endLease(ctx, lease, reason);
    this.#groups.marketEnded(ctx, id, reason);
  }

  /** Withdraws a provider's unaccepted bid; a bid that has won stays, and so does its lease. */
  withdrawBid(ctx: Context, id: BidKey, reason: Closed_Reason): void {
    const bid = this.book.findBid(ctx, id);
    if (bid === undefined) throw errors.unknownBid(formatBidId(id));
    if (bid.state !== Bid_State.open) throw errors.bidNotOpen(`${formatBidId(id)} is ${Bid_State[bid.state]}`);
    this.#withdrawBid(ctx, bid, reason);
  }

  /**
   * The owner accepts an open bid, whose deposit is returned at once; the lease is paid from escrow. All other bids are
   * lost at the end of the block. With `maxPrice` a bid that costs more is refused.
   */
  createLease(ctx: Context, id: BidKey, maxPrice?: DecimalCoin): void {
    const bid = this.book.bid(ctx, id);
    if (bid.state !== Bid_State.open) throw errors.bidNotOpen(`${formatBidId(id)} is ${Bid_State[bid.state]}`);
    const price = priceOf(bid.price);
    if (maxPrice !== undefined) checkAccepted(price, maxPrice);
    this.#escrow.bringUpToDate(ctx, escrowId(id));
    const order = this.book.order(ctx, id);
    if (!isOpenOrder(order)) throw errors.orderNotOpen(formatOrderId(id));
    const group = this.#groups.findGroup(ctx, id);
    if (group === undefined) throw errors.groupNotFound(formatGroupId(id));
    if (group.state !== Group_State.open) throw errors.groupNotOpen(formatGroupId(id));
    this.#checkProvider(ctx, this.#groups.spec(ctx, id), id.provider);
    const { minStartBlocks: minBlocks } = this.#groups.getParams(ctx);
    const payment = { id: formatPaymentId(id), owner: id.provider, rate: price, minBlocks };
    this.#escrow.openPayment(ctx, escrowId(id), payment);
    const lease = { leaseId: id, state: Lease_State.active, price: wirePrice(price), createdAt: ctx.height };
    this.book.saveLease(ctx, create(LeaseSchema, lease));
    this.book.saveNotOpen(ctx, { ...order, state: Order_State.active });
    emitBid(ctx, "lease-created", id, { price });
    emitOrder(ctx, "order-matched", orderIdOf(order));
    this.book.saveBid(ctx, { ...bid, state: Bid_State.active });
    this.#escrow.closeAccount(ctx, bidEscrowId(id));
    this.book.awaitEnding(ctx, id, ctx.height);
  }

  /** The owner ends a lease; with `reopen` a new order opens at once, otherwise the group is paused. */
  closeLease(ctx: Context, id: BidKey, { reopen }: { readonly reopen: boolean }): void {
    const known = this.book.order(ctx, id);
    if (isOpenOrder(known)) throw errors.noLeaseForOrder(formatOrderId(id));
    this.book.lease(ctx, id);
    if (known.state === Order_State.active) this.#escrow.bringUpToDate(ctx, escrowId(id));
    const order = this.book.order(ctx, id);
    if (order.state !== Order_State.active) throw errors.orderClosed(formatOrderId(id));
    const lease = this.book.lease(ctx, id);
    if (lease.state !== Lease_State.active) throw errors.leaseNotActive(formatLeaseId(id));
    this.#endLease(ctx, lease, Closed_Reason.owner);
    if (reopen) this.#groups.reopenGroup(ctx, id);
    else this.#groups.marketEnded(ctx, id, Closed_Reason.owner);
  }

  /** Pays the provider what a lease has earned so far. */
  withdraw(ctx: Context, id: BidKey): IntCoin {
    this.#checkActive(ctx, id);
    const [amount = NOTHING] = this.#collect(ctx, [id]);
    return amount;
  }

  /** Pays the provider what the named leases have earned, or all its active ones up to the end-block cap. */
  withdrawAll(ctx: Context, provider: string, ids: readonly BidKey[]): IntCoin[] {
    const cap = this.#escrow.maxRecords(ctx);
    if (ids.length > cap)
      throw sdkErrors.invalidRequest(`${ids.length} leases, at most ${cap} can be collected from at a time`);
    for (const id of ids) this.#checkActive(ctx, id);
    const wanted = ids.length > 0 ? ids : this.book.firstActiveLeases(ctx, provider, cap).map(leaseIdOf);
    return byDeployment(wanted).flatMap((leases) => this.#collect(ctx, leases));
  }

  /** Closes expired orders, whose groups are paused, and ends the bids of orders that take no more bids. */
  endBlock(ctx: Context): void {
    this.#expireOrders(ctx);
    this.#endBids(ctx);
  }

  /** Does everything that a full block left for later, and everything that failed. Throws if something fails again. */
  endAll(ctx: Context): void {
    const { expiry, retries, ending } = this.book;
    for (const { height, key } of [...retries.iterate(storeOf(ctx))]) {
      retries.remove(storeOf(ctx), height, key);
      this.#expire(ctx, orderOfPath(key));
    }
    for (const { key } of expiry.popDue(storeOf(ctx), ctx.height, Number.MAX_SAFE_INTEGER))
      this.#expire(ctx, orderOfPath(key));
    for (const { key } of ending.due(storeOf(ctx), ctx.height, Number.MAX_SAFE_INTEGER))
      this.#endBidsOf(ctx, orderOfPath(key), Number.MAX_SAFE_INTEGER);
  }

  #expireOrders(ctx: Context): void {
    const store = storeOf(ctx);
    const { height } = ctx;
    const { expiry, retries } = this.book;
    const expire = (key: OrderPath): number => {
      const id = orderOfPath(key);
      const done = runBlockItem(ctx, `market expiry ${formatOrderId(id)}`, (inner) => this.#expire(inner, id));
      if (!done) retries.push(store, height + RETRY_BLOCKS, pathOf(id));
      return 1;
    };
    const left = expiry.drain(store, { height, budget: this.#escrow.maxRecords(ctx) }, expire);
    retries.drain(store, { height, budget: left }, expire);
  }

  /** An order may be ended by a message, whose gas must not depend on how many bids arrived meanwhile. */
  #endBids(ctx: Context): void {
    let left = this.#escrow.maxRecords(ctx);
    for (const { key } of this.book.ending.due(storeOf(ctx), ctx.height, left)) {
      if (left <= 0) return;
      const id = orderOfPath(key);
      let ended = 0;
      // If it fails the entry stays, and the next block tries again.
      runBlockItem(ctx, `market bids of ${formatOrderId(id)}`, (inner) => {
        ended = this.#endBidsOf(inner, id, left);
      });
      left -= Math.max(1, ended);
    }
  }

  /** Ends open bids of an order that was matched or closed, at most so many, and returns their deposits. */
  #endBidsOf(ctx: Context, id: OrderKey, most: number): number {
    const bids = this.book.openBids(ctx, id, most);
    const isMatched = this.book.anyLease(ctx, id) !== undefined;
    const lost = { state: Bid_State.lost, reason: Closed_Reason.lease_lost } as const;
    const end = isMatched ? lost : { state: Bid_State.closed as const, reason: this.book.order(ctx, id).closeReason };
    for (const bid of bids) this.#endBid(ctx, bid, end);
    this.book.endingDone(ctx, id);
    return bids.length;
  }

  activeLeasesOf(ctx: Context, provider: string): Lease[] {
    return [...this.book.activeLeasesOf(ctx, provider)];
  }

  /** Requirements of the orders behind the provider's active leases. */
  *activeRequirements(ctx: Context, provider: string): IterableIterator<PlacementRequirements> {
    for (const lease of this.book.activeLeasesOf(ctx, provider)) {
      const { requirements } = this.#groups.spec(ctx, leaseIdOf(lease));
      if (requirements !== undefined) yield requirements;
    }
  }

  hasActiveLease(ctx: Context, provider: string): boolean {
    for (const _ of this.book.activeLeasesOf(ctx, provider)) return true;
    return false;
  }

  openBids(ctx: Context, provider: string): number {
    return this.book.openBidCountOf(ctx, provider);
  }

  closeOpenBids(ctx: Context, provider: string, reason: Closed_Reason): void {
    for (const bid of [...this.book.openBidsOf(ctx, provider)]) this.#withdrawBid(ctx, bid, reason);
  }

  /** Removes what a closed deployment had here from the state. */
  prune(ctx: Context, id: DeploymentKey, most: number): PrunedOrders {
    return pruneOrders({ book: this.book, escrow: this.#escrow }, ctx, { id, most });
  }

  /**
   * The bid that a new one replaces: the most expensive of an order with the maximum number, on a tie the newest.
   * Undefined if there is room.
   */
  #displacedBy(ctx: Context, id: OrderKey, price: DecimalCoin): Bid | undefined {
    const { orderMaxBids } = this.book.getParams(ctx);
    const count = this.book.openBidCount(ctx, id);
    if (count < orderMaxBids) return undefined;
    const highest = this.book.openBids(ctx, id, count).reduce((a, b) => (isDisplacedBefore(b, a) ? b : a));
    const most = priceOf(highest.price);
    if (price.amount < most.amount) return highest;
    throw errors.tooManyBids(
      `${formatOrderId(id)} has ${count} open bids, the most expensive at ${formatDecCoin(most)}`,
    );
  }

  #displace(ctx: Context, bid: Bid): void {
    this.#endBid(ctx, bid, { state: Bid_State.lost, reason: Closed_Reason.outbid });
    this.#forgetBid(ctx, bidIdOf(bid));
  }

  /** The provider withdraws an open bid; its order may have ended in an earlier block. */
  #withdrawBid(ctx: Context, bid: Bid, reason: Closed_Reason): void {
    const id = bidIdOf(bid);
    this.#endBid(ctx, bid, { state: Bid_State.closed, reason });
    this.#forgetBid(ctx, id);
    if (!isOpenOrder(this.book.order(ctx, id))) this.book.endingDone(ctx, id);
  }

  /**
   * Removes a bid that was displaced or withdrawn, so that an order never has more bids than it may, and its provider
   * may bid again. Otherwise cheap bids that are withdrawn at once could keep all others from an order for the price
   * of fees.
   */
  #forgetBid(ctx: Context, id: BidKey): void {
    this.#escrow.forgetAccount(ctx, bidEscrowId(id));
    this.book.removeBid(ctx, id);
  }

  /** The only way in which a lease ends: its payment, bid and order end with it. The caller handles the group. */
  #endLease(ctx: Context, lease: Lease, reason: Closed_Reason): void {
    const id = leaseIdOf(lease);
    const payment = this.#payment(ctx, id);
    // If the funds ran out, escrow has already closed the payment, at the last block that was paid.
    if (payment.open) this.#escrow.closePayment(ctx, escrowId(id), payment.id);
    const end = { closedOn: payment.open ? ctx.height : payment.closedAt, closeReason: reason };
    const isExhausted = reason === Closed_Reason.insufficient_funds;
    const state = isExhausted ? Lease_State.insufficient_funds : Lease_State.closed;
    this.book.saveLease(ctx, { ...lease, ...end, state });
    this.book.saveBid(ctx, { ...this.book.bid(ctx, id), ...end, state: Bid_State.closed });
    this.book.saveOrder(ctx, { ...this.book.order(ctx, id), ...end, state: Order_State.closed });
    const price = priceOf(lease.price);
    const { denom, withdrawn } = this.#payment(ctx, id);
    emitBid(ctx, "lease-closed", id, { price, amount: { denom, amount: withdrawn }, reason });
    emitBid(ctx, "bid-closed", id, { price, reason });
    emitOrder(ctx, "order-closed", id, reason);
  }

  /** Ends an order without a lease; its bids end with the block. */
  #endOrder(ctx: Context, order: Order, reason: Closed_Reason): void {
    const id = orderIdOf(order);
    this.book.saveNotOpen(ctx, { ...order, state: Order_State.closed, closedOn: ctx.height, closeReason: reason });
    this.book.awaitEnding(ctx, id, ctx.height);
    emitOrder(ctx, "order-closed", id, reason);
  }

  /** Ends an open bid and returns its deposit. */
  #endBid(ctx: Context, bid: Bid, { state, reason }: BidEnd): void {
    const id = bidIdOf(bid);
    this.book.saveBid(ctx, { ...bid, state, closedOn: ctx.height, closeReason: reason });
    this.#escrow.closeAccount(ctx, bidEscrowId(id));
    emitBid(ctx, state === Bid_State.lost ? "bid-lost" : "bid-closed", id, { price: priceOf(bid.price), reason });
  }

  #expire(ctx: Context, id: OrderKey): void {
    const order = this.book.findOrder(ctx, id);
    // The order may have ended, and left the state, meanwhile.
    if (order === undefined || !isOpenOrder(order)) return;
    this.#endOrder(ctx, order, Closed_Reason.order_expired);
    this.#groups.marketEnded(ctx, id, Closed_Reason.order_expired);
  }

  #checkActive(ctx: Context, id: BidKey): void {
    const lease = this.book.findLease(ctx, id);
    if (lease === undefined) throw errors.unknownLease(formatLeaseId(id));
    if (lease.state !== Lease_State.active) throw errors.leaseNotActive(formatLeaseId(id));
  }

  /**
   * Pays out leases of one deployment, settled once for all of them, and returns each payment; the money may have run
   * out before this block.
   */
  #collect(ctx: Context, ids: readonly BidKey[]): IntCoin[] {
    const [first] = ids;
    if (first === undefined) return [];
    const before = ids.map((id) => this.#payment(ctx, id).withdrawn);
    this.#escrow.bringUpToDate(ctx, escrowId(first));
    const open = ids.map((id) => this.#payment(ctx, id)).filter((payment) => payment.open);
    if (open.length > 0) this.#escrow.withdraw(ctx, escrowId(first), new Set(open.map(({ id }) => id)));
    return ids.map((id, i) => {
      const { denom, withdrawn } = this.#payment(ctx, id);
      const amount = { denom, amount: withdrawn - (before[i] ?? 0n) };
      emitBid(ctx, "lease-withdrawn", id, { amount });
      return amount;
    });
  }

  #payment(ctx: Context, id: BidKey) {
    const payment = this.#escrow.findPayment(ctx, escrowId(id), formatPaymentId(id));
    if (payment === undefined) throw errors.internal(`${formatLeaseId(id)} has no payment`);
    return payment;
  }

  #leaseOf(ctx: Context, order: Order): Lease {
    const lease = this.book.activeLease(ctx, orderIdOf(order));
    if (lease === undefined) throw errors.noLeaseForOrder(formatOrderId(orderIdOf(order)));
    return lease;
  }

  #checkDeposit(ctx: Context, deposit: IntCoin): void {
    const { bidMinDeposits } = this.book.getParams(ctx);
    const minimum = bidMinDeposits.find(({ denom }) => denom === deposit.denom);
    if (minimum === undefined) {
      const denoms = bidMinDeposits.map(({ denom }) => denom).join(" or ");
      throw errors.invalidDeposit(`${formatCoin(deposit)}: deposits of bids are in ${denoms}`);
    }
    if (deposit.amount < (tryParseInt(minimum.amount) ?? 0n))
      throw errors.invalidDeposit(`${formatCoin(deposit)}: the minimum is ${formatCoin(minimum)}`);
  }

  #checkProvider(ctx: Context, spec: GroupSpec, provider: string): void {
    if (!this.#providers.exists(ctx, provider)) throw errors.unknownProvider(provider);
    const attributes = this.#providers.attributes(ctx, provider);
    const signedBy = (auditor: string) => this.#audits.signedAttributes(ctx, provider, auditor);
    if (!meetsRequirements(spec.requirements, { attributes, signedBy })) throw errors.attributeMismatch(provider);
    if (!hasCapabilities(spec, attributes)) throw errors.capabilitiesMismatch(provider);
  }
}

const NOTHING: IntCoin = { denom: "", amount: 0n };

/** Leases by their deployments, each once, in the order in which they first come. */
function byDeployment(ids: readonly BidKey[]): BidKey[][] {
  const found = new Map<string, Map<string, BidKey>>();
  for (const id of ids) {
    const deployment = formatDeploymentId(id);
    const leases = found.get(deployment) ?? new Map<string, BidKey>();
    found.set(deployment, leases.set(formatLeaseId(id), id));
  }
  return [...found.values()].map((leases) => [...leases.values()]);
}

interface BidEnd {
  readonly state: Bid_State.lost | Bid_State.closed;
  readonly reason: Closed_Reason;
}

/** With equal price and height, the last bid in the order of providers goes first. */
function isDisplacedBefore(bid: Bid, other: Bid): boolean {
  const difference = priceOf(bid.price).amount - priceOf(other.price).amount;
  return difference === 0n ? bid.createdAt >= other.createdAt : difference > 0n;
}

function checkPrice(spec: GroupSpec, price: DecimalCoin): void {
  const most = groupPrice(spec);
  if (price.denom !== most.denom)
    throw errors.invalidPrice(`${formatDecCoin(price)}: the order is in ${most.denom}, bid in the same denomination`);
  if (price.amount > most.amount) throw errors.overMaxPrice(`${formatDecCoin(price)}, at most ${formatDecCoin(most)}`);
}

/** Between the owner's choice and the lease a provider may have bid again. */
function checkAccepted(price: DecimalCoin, most: DecimalCoin): void {
  if (price.denom === most.denom && price.amount <= most.amount) return;
  throw errors.priceRose(`${formatDecCoin(price)}, at most ${formatDecCoin(most)}`);
}

function wirePrice({ denom, amount }: DecimalCoin) {
  return { $typeName: "sdk.base.v1beta1.DecCoin" as const, denom, amount: amount.toString() };
}
