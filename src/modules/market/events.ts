import type { Context } from "../../runtime/index.ts";
import { type DecimalCoin, formatCoin, formatDec, type IntCoin } from "../../util/index.ts";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { BidKey, OrderKey } from "../../wire/index.ts";

interface Details {
  readonly price?: DecimalCoin;
  readonly amount?: IntCoin;
  readonly reason?: Closed_Reason;
}

export function emitOrder(ctx: Context, action: string, id: OrderKey, reason?: Closed_Reason): void {
  ctx.events.emit("svc.v1", {
    module: "market",
    action,
    ...orderAttributes(id),
    ...(reason === undefined ? {} : { reason: Closed_Reason[reason] }),
  });
}

/** An event of a bid or of the lease with the same id. */
export function emitBid(ctx: Context, action: string, id: BidKey, { price, amount, reason }: Details): void {
  ctx.events.emit("svc.v1", {
    module: "market",
    action,
    ...orderAttributes(id),
    provider: id.provider,
    ...(price === undefined ? {} : { "price-denom": price.denom, "price-amount": formatDec(price.amount) }),
    ...(amount === undefined ? {} : { amount: formatCoin(amount) }),
    ...(reason === undefined ? {} : { reason: Closed_Reason[reason] }),
  });
}

function orderAttributes(id: OrderKey): Record<string, string> {
  return { owner: id.owner, dseq: id.dseq.toString(), gseq: id.gseq.toString(), oseq: id.oseq.toString() };
}
