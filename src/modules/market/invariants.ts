import type { Context, Invariant } from "../../runtime/index.ts";
import { groupPrice } from "../../sdl/index.ts";
import {
  type Deployment,
  Deployment_State,
  type Group,
  Group_State,
  type GroupSpec,
} from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import {
  type Bid,
  Bid_State,
  type Lease,
  Lease_State,
  type Order,
  Order_State,
} from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import {
  type DeploymentKey,
  formatBidId,
  formatGroupId,
  formatOrderId,
  formatPaymentId,
  type GroupKey,
} from "../../wire/index.ts";
import { escrowId } from "../deployment/index.ts";
import type { Escrow } from "../escrow/index.ts";
import { isOpenOrder, type MarketBook, storeOf } from "./book.ts";
import { MAX_BIDS_CAP } from "./params.ts";
import { bidEscrowId, bidIdOf, leaseIdOf, orderIdOf, orderOfPath, pathOf, priceOf } from "./records.ts";

/** Functions of other modules that the invariants read. */
export interface MarketNeighbours {
  readonly book: MarketBook;
  readonly escrow: Escrow;
  readonly groups: {
    deployment(ctx: Context, id: DeploymentKey): Deployment;
    findGroup(ctx: Context, id: GroupKey): Group | undefined;
    spec(ctx: Context, id: GroupKey): GroupSpec;
  };
}

/** Conditions that hold after every block; each walks all orders, bids or leases. */
export function marketInvariants(neighbours: MarketNeighbours): Readonly<Record<string, Invariant>> {
  const { book } = neighbours;
  const each =
    <T>(list: (ctx: Context) => Iterable<T>, check: (ctx: Context, value: T) => string | undefined): Invariant =>
    (ctx) => {
      for (const value of list(ctx)) {
        const problem = check(ctx, value);
        if (problem !== undefined) return problem;
      }
      return undefined;
    };
  const orders = (ctx: Context) => book.orders.values(storeOf(ctx));
  const bids = (ctx: Context) => book.bids.values(storeOf(ctx));
  const leases = (ctx: Context) => book.leases.values(storeOf(ctx));
  return {
    "lease-chain": each(leases, (ctx, lease) => leaseHasChain(neighbours, ctx, lease)),
    "order-chain": each(orders, (ctx, order) => orderHasChain(neighbours, ctx, order)),
    "group-orders": (ctx) => groupsHaveOneOrder(neighbours, ctx),
    "order-bids": each(orders, (ctx, order) => orderHasBids(neighbours, ctx, order)),
    "bid-deposits": each(bids, (ctx, bid) => bidHasDeposit(neighbours, ctx, bid)),
    prices: each(leases, (ctx, lease) => pricesAgree(neighbours, ctx, lease)),
    "order-specs": each(orders, (ctx, order) => hasNoCopy(neighbours, ctx, order)),
    "bid-prices": each(bids, (ctx, bid) => bidIsWithinOrder(neighbours, ctx, bid)),
    "escrow-records": (ctx) => escrowHoldsNothingElse(neighbours, ctx),
    expiry: (ctx) => expiryMatches(book, ctx),
    indexes: (ctx) => {
      const store = storeOf(ctx);
      const { orders: o, bids: b, leases: l } = book;
      return [...o.verifyIndexes(store), ...b.verifyIndexes(store), ...l.verifyIndexes(store)][0];
    },
  };
}

/** A lease is active exactly while its bid, its order and its payment are; a lease that ended tells when and why. */
function leaseHasChain({ book, escrow, groups }: MarketNeighbours, ctx: Context, lease: Lease): string | undefined {
  const id = leaseIdOf(lease);
  const name = `lease ${formatBidId(id)}`;
  const isActive = lease.state === Lease_State.active;
  const payment = escrow.findPayment(ctx, escrowId(id), formatPaymentId(id));
  if (payment === undefined) return `${name} has no payment`;
  if (payment.open !== isActive) return `${name} is ${Lease_State[lease.state]}, its payment is not`;
  if ((book.findBid(ctx, id)?.state === Bid_State.active) !== isActive) return `${name}: its bid does not follow`;
  if ((book.findOrder(ctx, id)?.state === Order_State.active) !== isActive) return `${name}: its order does not follow`;
  if (!isActive) {
    if (lease.closedOn !== payment.closedAt) return `${name} ended at ${lease.closedOn}, paid to ${payment.closedAt}`;
    return lease.closeReason === 0 ? `${name} ended without a reason` : undefined;
  }
  if (groups.findGroup(ctx, id)?.state !== Group_State.open) return `${name} is active, its group is not open`;
  if (groups.deployment(ctx, id).state !== Deployment_State.active) return `${name} is active, its deployment is not`;
  return escrow.account(ctx, escrowId(id)).open ? undefined : `${name} is active, its escrow account is closed`;
}

/** An active order has exactly one active lease and bid, any other none. */
function orderHasChain({ book }: MarketNeighbours, ctx: Context, order: Order): string | undefined {
  const [owner, dseq, gseq, oseq] = pathOf(orderIdOf(order));
  const store = storeOf(ctx);
  const expected = order.state === Order_State.active ? 1 : 0;
  const leases = book.leases.by.owner.count(store, { prefix: [owner, Lease_State.active, dseq, gseq, oseq] });
  const bids = book.bids.by.owner.count(store, { prefix: [owner, Bid_State.active, dseq, gseq, oseq] });
  if (leases === expected && bids === expected) return undefined;
  const state = Order_State[order.state];
  return `order ${formatOrderId(orderIdOf(order))} is ${state} with ${leases} active leases and ${bids} active bids`;
}

/** Orders of a group are numbered without gaps; only the last may be not closed, and exactly while the group is open. */
function groupsHaveOneOrder({ book, groups }: MarketNeighbours, ctx: Context): string | undefined {
  let last: Order | undefined;
  const finish = (order: Order | undefined): string | undefined => {
    if (order === undefined) return undefined;
    const id = orderIdOf(order);
    const isOpen = groups.findGroup(ctx, id)?.state === Group_State.open;
    if (isOpen === (order.state !== Order_State.closed)) return undefined;
    return `group ${formatGroupId(id)} and its order ${id.oseq} differ`;
  };
  for (const order of book.orders.values(storeOf(ctx))) {
    const id = orderIdOf(order);
    const before = last === undefined ? undefined : orderIdOf(last);
    const isSameGroup = before !== undefined && formatGroupId(before) === formatGroupId(id);
    const problem = isSameGroup ? undefined : finish(last);
    if (problem !== undefined) return problem;
    if (id.oseq !== (isSameGroup ? before.oseq + 1 : 1)) return `order ${formatOrderId(id)} leaves a gap`;
    if (isSameGroup && last?.state !== Order_State.closed) return `order ${formatOrderId(before)} is not closed`;
    last = order;
  }
  return finish(last);
}

/**
 * Only open orders, and orders ending with the block, have open bids; an open order has at most the highest allowed
 * number.
 */
function orderHasBids({ book }: MarketNeighbours, ctx: Context, order: Order): string | undefined {
  const name = `order ${formatOrderId(orderIdOf(order))}`;
  const count = book.openBidCount(ctx, orderIdOf(order));
  if (!isOpenOrder(order)) {
    if (order.state === Order_State.closed && order.closeReason === 0) return `${name} ended without a reason`;
    const waits = book.ending.has(storeOf(ctx), book.endedAt(ctx, orderIdOf(order)), pathOf(orderIdOf(order)));
    if (waits === count > 0) return undefined;
    return waits ? `${name} waits for bids that have ended` : `${name} is not open and has ${count} open bids`;
  }
  if (count > MAX_BIDS_CAP) return `${name} has ${count} open bids, more than ${MAX_BIDS_CAP}`;
  const [owner, dseq, gseq, oseq] = pathOf(orderIdOf(order));
  const leases = book.leases.count(storeOf(ctx), { prefix: [owner, dseq, gseq, oseq] });
  return leases === 0 ? undefined : `${name} is open and has a lease`;
}

/** The deposit of a bid is in escrow exactly while the bid is open. */
function bidHasDeposit({ book, escrow }: MarketNeighbours, ctx: Context, bid: Bid): string | undefined {
  const id = bidIdOf(bid);
  const name = `bid ${formatBidId(id)}`;
  if (book.findOrder(ctx, id) === undefined) return `${name} has no order`;
  const account = escrow.account(ctx, bidEscrowId(id));
  const isOpen = bid.state === Bid_State.open;
  if (account.open !== isOpen) return `${name} is ${Bid_State[bid.state]}, its deposit is not`;
  if (isOpen) return account.balance > 0n ? undefined : `${name} is open without a deposit`;
  if (bid.state !== Bid_State.active && bid.closeReason === 0) return `${name} ended without a reason`;
  return account.balance === 0n ? undefined : `${name} still has ${account.balance} in escrow`;
}

/** One price from the bid to the payment, not above the order's, in the deployment's denomination. */
function pricesAgree({ book, escrow, groups }: MarketNeighbours, ctx: Context, lease: Lease): string | undefined {
  const id = leaseIdOf(lease);
  const price = priceOf(lease.price);
  const bid = priceOf(book.bid(ctx, id).price);
  const payment = escrow.findPayment(ctx, escrowId(id), formatPaymentId(id));
  const most = groupPrice(groups.spec(ctx, id));
  const { denom } = escrow.account(ctx, escrowId(id));
  const sameAmount = price.amount === bid.amount && price.amount === payment?.rate;
  const sameDenom = [bid.denom, payment?.denom, most.denom, denom].every((each) => each === price.denom);
  if (!sameAmount || !sameDenom) return `lease ${formatBidId(id)}: prices of lease, bid, payment and order differ`;
  return price.amount <= most.amount ? undefined : `lease ${formatBidId(id)} is above its order`;
}

/** An order asks for the same as its group, and keeps no copy of it. */
function hasNoCopy({ groups }: MarketNeighbours, ctx: Context, order: Order): string | undefined {
  const id = orderIdOf(order);
  if (groups.findGroup(ctx, id) === undefined) return `order ${formatOrderId(id)} has no group`;
  return order.spec === undefined ? undefined : `order ${formatOrderId(id)} keeps a copy of what its group asks for`;
}

/** A bid's price is positive, at most its order's, and in its denomination. */
function bidIsWithinOrder({ groups }: MarketNeighbours, ctx: Context, bid: Bid): string | undefined {
  const { denom, amount } = priceOf(bid.price);
  const most = groupPrice(groups.spec(ctx, bidIdOf(bid)));
  if (denom === most.denom && amount > 0n && amount <= most.amount) return undefined;
  return `bid ${formatBidId(bidIdOf(bid))} does not fit the price of its order`;
}

/** Every payment belongs to a lease and every deposit to a bid: the numbers are equal, since each has its own. */
function escrowHoldsNothingElse({ book, escrow }: MarketNeighbours, ctx: Context): string | undefined {
  const store = storeOf(ctx);
  const { payments, bidDeposits } = escrow.count(ctx);
  if (payments !== book.leases.count(store)) return "a payment belongs to no lease";
  return bidDeposits === book.bids.count(store) ? undefined : "a deposit in escrow belongs to no bid";
}

/** The expiry queue holds exactly the open orders, except orders whose expiry failed and will be retried. */
function expiryMatches(book: MarketBook, ctx: Context): string | undefined {
  const store = storeOf(ctx);
  const waiting = new Set<string>();
  for (const { height, key } of book.expiry.iterate(store)) {
    const order = book.orders.get(store, key);
    if (order === undefined || !isOpenOrder(order) || order.expiresAt !== height) return `a stray entry at ${height}`;
    waiting.add(formatOrderId(orderIdOf(order)));
  }
  for (const { key } of book.retries.iterate(store)) waiting.add(formatOrderId(orderOfPath(key)));
  for (const [, order] of book.orders.by.state.iterate(store, { prefix: [Order_State.open] })) {
    if (!waiting.has(formatOrderId(orderIdOf(order)))) return `${formatOrderId(orderIdOf(order))} never expires`;
  }
  return undefined;
}
