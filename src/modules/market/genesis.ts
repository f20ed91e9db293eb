import { create } from "@bufbuild/protobuf";
import { defineGenesis, type GenesisPart } from "../../runtime/index.ts";
import { GenesisStateSchema } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { marketErrors as errors, formatBidId, formatOrderId } from "../../wire/index.ts";
import { isOpenOrder, type MarketBook, storeOf } from "./book.ts";
import { readBidId, readOrderId } from "./msgs.ts";
import { checkParams, defaultParams } from "./params.ts";

export function marketGenesis(book: MarketBook): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    init(ctx, state) {
      const store = storeOf(ctx);
      book.params.set(store, checkParams(state.params ?? defaultParams()));
      for (const order of state.orders) {
        const id = readOrderId(order.orderId);
        if (book.findOrder(ctx, id) !== undefined) throw errors.orderExists(formatOrderId(id));
        book.saveOrder(ctx, order);
        if (isOpenOrder(order)) book.awaitExpiry(ctx, order);
      }
      for (const bid of state.bids) {
        const id = readBidId(bid.bidId);
        if (book.findBid(ctx, id) !== undefined) throw errors.bidExists(formatBidId(id));
        book.saveBid(ctx, bid);
      }
      for (const lease of state.leases) {
        const id = readBidId(lease.leaseId);
        if (book.findLease(ctx, id) !== undefined) throw errors.bidExists(`lease ${formatBidId(id)}`);
        book.saveLease(ctx, lease);
      }
    },
    export(ctx) {
      const store = storeOf(ctx);
      return create(GenesisStateSchema, {
        orders: [...book.orders.values(store)],
        bids: [...book.bids.values(store)],
        leases: [...book.leases.values(store)],
        params: book.getParams(ctx),
      });
    },
  });
}
