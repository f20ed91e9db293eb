import { create } from "@bufbuild/protobuf";
import {
  type Context,
  defineGenesis,
  type GenesisPart,
  movedDue,
  movedEnd,
  movedHeight,
  type RestartPart,
} from "../../runtime/index.ts";
import { equalBytes } from "../../util/index.ts";
import { type GroupSpec, GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { type GenesisState, GenesisStateSchema, type Order } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { encodeMessage, marketErrors as errors, formatBidId, formatOrderId } from "../../wire/index.ts";
import { isOpenOrder, type MarketBook, storeOf } from "./book.ts";
import type { MarketGroups } from "./keeper.ts";
import { readBidId, readOrderId } from "./msgs.ts";
import { checkParams, defaultParams } from "./params.ts";
import { orderOfPath } from "./records.ts";

export function marketGenesis(
  book: MarketBook,
  groups: Pick<MarketGroups, "spec">,
  endAll: (ctx: Context) => void,
): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    init(ctx, state) {
      const store = storeOf(ctx);
      book.params.set(store, checkParams(state.params ?? defaultParams()));
      for (const order of state.orders) {
        const id = readOrderId(order.orderId);
        if (book.findOrder(ctx, id) !== undefined) throw errors.orderExists(formatOrderId(id));
        checkSpec(order, groups.spec(ctx, id));
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
      for (const order of state.orders) {
        const id = readOrderId(order.orderId);
        if (!isOpenOrder(order)) book.awaitEnding(ctx, id, book.endedAt(ctx, id));
      }
      for (const { orderId, height } of state.retries) book.restoreRetry(ctx, readOrderId(orderId), height);
    },
    export(ctx) {
      const store = storeOf(ctx);
      return create(GenesisStateSchema, {
        orders: [...book.orders.values(store)],
        bids: [...book.bids.values(store)],
        leases: [...book.leases.values(store)],
        params: book.getParams(ctx),
        retries: [...book.retries.iterate(store)].map(({ height, key }) => ({ orderId: orderOfPath(key), height })),
      });
    },
    restart: marketRestart(endAll),
  });
}

/** Orders are exported without what their group asks for; an order that states it must agree with its group. */
function checkSpec({ orderId, spec }: Order, wanted: GroupSpec): void {
  const encode = (each: GroupSpec) => encodeMessage(GroupSpecSchema, each);
  if (spec === undefined || equalBytes(encode(spec), encode(wanted))) return;
  throw errors.internal(`${formatOrderId(readOrderId(orderId))} asks for something else than its group`);
}

/** Orders keep their remaining open blocks; overdue ends happen before the new chain begins. */
function marketRestart(endAll: (ctx: Context) => void): RestartPart<GenesisState> {
  return { prepare: endAll, move: moved };
}

function moved(state: GenesisState, last: bigint): GenesisState {
  const age = <T extends { readonly createdAt: bigint; readonly closedOn: bigint }>(record: T) => ({
    ...record,
    createdAt: movedHeight(record.createdAt, last),
    closedOn: movedEnd(record.closedOn, last),
  });
  return create(GenesisStateSchema, {
    ...state,
    orders: state.orders.map((order) => ({ ...age(order), expiresAt: movedDue(order.expiresAt, last) })),
    bids: state.bids.map(age),
    leases: state.leases.map(age),
    retries: state.retries.map((retry) => ({ ...retry, height: movedDue(retry.height, last) })),
  });
}
