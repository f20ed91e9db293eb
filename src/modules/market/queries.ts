import { type BoundService, bindService, type Context } from "../../runtime/index.ts";
import {
  type Bid,
  Bid_State,
  type Lease,
  Lease_State,
  type Order,
  Order_State,
} from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { formatPaymentId } from "../../wire/index.ts";
import { escrowId } from "../deployment/index.ts";
import { accountMessage, paymentMessage } from "../escrow/index.ts";
import type { MarketBook } from "./book.ts";
import type { MarketDeps } from "./keeper.ts";
import { readBidId, readOrderId } from "./msgs.ts";
import { bidEscrowId, bidIdOf, leaseIdOf, orderIdOf } from "./records.ts";
import { readFilters, searchBids, searchOrders } from "./search.ts";

export function marketQueries(
  book: MarketBook,
  { escrow, groups }: Pick<MarketDeps, "escrow" | "groups">,
): BoundService {
  const withSpec = (ctx: Context, order: Order): Order => ({ ...order, spec: groups.spec(ctx, orderIdOf(order)) });
  const bidDetails = (ctx: Context, bid: Bid) => ({
    bid,
    escrowAccount: accountMessage(escrow.account(ctx, bidEscrowId(bidIdOf(bid)))),
  });
  const leaseDetails = (ctx: Context, lease: Lease) => {
    const id = leaseIdOf(lease);
    const payment = escrow.findPayment(ctx, escrowId(id), formatPaymentId(id));
    const message = payment && paymentMessage(payment, escrow.accrued(ctx, payment));
    return { lease, ...(message === undefined ? {} : { escrowPayment: message }) };
  };
  return bindService(Query, {
    orders: (ctx, { filters, pagination: page }) => {
      const wanted = readFilters(filters, Order_State);
      const { items, pagination } = searchOrders(book.orders, ctx, { wanted, page });
      return { orders: items.map(([, order]) => withSpec(ctx, order)), pagination };
    },
    order: (ctx, { id }) => ({ order: withSpec(ctx, book.order(ctx, readOrderId(id))) }),
    bids: (ctx, { filters, pagination: page }) => {
      const wanted = readFilters(filters, Bid_State);
      const { items, pagination } = searchBids(book.bids, ctx, { wanted, page });
      return { bids: items.map(([, bid]) => bidDetails(ctx, bid)), pagination };
    },
    bid: (ctx, { id }) => bidDetails(ctx, book.bid(ctx, readBidId(id))),
    leases: (ctx, { filters, pagination: page }) => {
      const wanted = readFilters(filters, Lease_State);
      const { items, pagination } = searchBids(book.leases, ctx, { wanted, page });
      return { leases: items.map(([, lease]) => leaseDetails(ctx, lease)), pagination };
    },
    lease: (ctx, { id }) => leaseDetails(ctx, book.lease(ctx, readBidId(id))),
    params: (ctx) => ({ params: book.getParams(ctx) }),
  });
}
