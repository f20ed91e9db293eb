import type { Context } from "../../runtime/index.ts";
import { type DeploymentKey, formatPaymentId, type OrderKey } from "../../wire/index.ts";
import { escrowId, type PrunedOrders } from "../deployment/index.ts";
import type { Escrow } from "../escrow/index.ts";
import { type MarketBook, storeOf } from "./book.ts";
import { bidEscrowId, bidIdOf, bidPathOf, leaseIdOf, orderIdOf, pathOf } from "./records.ts";

/** Records that pruning removes. */
interface Records {
  readonly book: MarketBook;
  readonly escrow: Escrow;
}

/**
 * Removes orders of a closed deployment from the state, the newest first, with their bids, leases, deposits and
 * payments: at most this many records, and an order's lease records in addition. Waits until all its bids have ended.
 */
export function pruneOrders(
  records: Records,
  ctx: Context,
  { id, most }: { readonly id: DeploymentKey; readonly most: number },
): PrunedOrders {
  if (records.book.hasOpenBids(ctx, id)) return { removed: 0, isDone: false };
  let removed = 0;
  for (const order of records.book.ordersBackwards(ctx, id)) {
    if (removed >= most) return { removed, isDone: false };
    removed += pruneOrder(records, ctx, { id: orderIdOf(order), most: most - removed });
  }
  const [left] = records.book.ordersBackwards(ctx, id);
  return { removed, isDone: left === undefined };
}

/** Removes an order once its bids are gone. Returns how many records were removed. */
function pruneOrder(
  { book, escrow }: Records,
  ctx: Context,
  { id, most }: { readonly id: OrderKey; readonly most: number },
): number {
  const store = storeOf(ctx);
  let removed = 0;
  for (const lease of book.leases.values(store, { prefix: pathOf(id) })) {
    const leaseId = leaseIdOf(lease);
    escrow.forgetPayment(ctx, escrowId(id), formatPaymentId(leaseId));
    book.leases.delete(store, bidPathOf(leaseId));
    removed += 2;
  }
  for (const bid of book.bids.values(store, { prefix: pathOf(id) })) {
    if (removed >= most) return removed;
    escrow.forgetAccount(ctx, bidEscrowId(bidIdOf(bid)));
    book.removeBid(ctx, bidIdOf(bid));
    removed += 2;
  }
  book.orders.delete(store, pathOf(id));
  return removed + 1;
}
