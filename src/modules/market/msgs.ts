import {
  type BoundService,
  bindService,
  checkAddress,
  coinMessage,
  readCoin,
  updateParams,
} from "../../runtime/index.ts";
import { type DecimalCoin, isDenom, sdkErrors, sumCoins, tryParseInt } from "../../util/index.ts";
import type { DecCoin } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { Msg } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import type { BidKey, OrderKey } from "../../wire/index.ts";
import { marketErrors as errors } from "../../wire/index.ts";
import { storeOf } from "./book.ts";
import type { MarketKeeper } from "./keeper.ts";
import { paramsProblems } from "./params.ts";

export function marketMsgs(keeper: MarketKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.book.params.set(storeOf(ctx), params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      createBid: (ctx, msg) => {
        const { provider } = msg;
        const order = readOrderId(msg.order);
        const bid = { order, provider, price: readPrice(msg.price), deposit: readCoin(msg.deposit) };
        return { id: keeper.createBid(ctx, bid) };
      },
      closeBid: (ctx, msg) => {
        const id = readBidId(msg.bidId);
        if (msg.openOnly) keeper.withdrawBid(ctx, id, readReason(msg.reason));
        else keeper.closeBid(ctx, id, readReason(msg.reason));
        return {};
      },
      createLease: (ctx, msg) => {
        const id = readBidId(msg.bidId);
        keeper.createLease(ctx, id, msg.maxPrice && readPrice(msg.maxPrice));
        return { id };
      },
      closeLease: (ctx, msg) => {
        keeper.closeLease(ctx, readBidId(msg.leaseId), { reopen: msg.reopen });
        return {};
      },
      withdrawLease: (ctx, msg) => ({ amount: coinMessage(keeper.withdraw(ctx, readBidId(msg.bidId))) }),
      withdrawLeases: (ctx, msg) => {
        const paid = keeper.withdrawAll(ctx, msg.provider, msg.ids.map(readBidId));
        return { amount: sumCoins(paid).map(coinMessage) };
      },
      updateParams: update.handle,
    },
    {
      createBid: (msg) => {
        checkProvider(readOrderId(msg.order).owner, msg.provider);
        if (readPrice(msg.price).amount === 0n) throw errors.zeroPrice();
        readCoin(msg.deposit);
      },
      closeBid: (msg) => {
        readBidId(msg.bidId);
        readReason(msg.reason);
      },
      createLease: (msg) => {
        readBidId(msg.bidId);
        if (msg.maxPrice !== undefined) readPrice(msg.maxPrice);
      },
      closeLease: (msg) => void readBidId(msg.leaseId),
      withdrawLease: (msg) => void readBidId(msg.bidId),
      withdrawLeases: (msg) => {
        checkAddress("provider", msg.provider);
        const foreign = msg.ids.map(readBidId).find(({ provider }) => provider !== msg.provider);
        if (foreign !== undefined)
          throw sdkErrors.unauthorized(`a lease of ${foreign.provider} is not yours to collect`);
      },
      updateParams: update.check,
    },
  );
}

/** A complete order id. Throws `sdk/7` or `sdk/18`. */
export function readOrderId(id: OrderKey | undefined): OrderKey {
  const { owner = "", dseq = 0n, gseq = 0, oseq = 0 } = id ?? {};
  checkAddress("owner", owner);
  if (dseq === 0n || gseq === 0 || oseq === 0)
    throw sdkErrors.invalidRequest(`dseq ${dseq}, gseq ${gseq}, oseq ${oseq}: none of them may be 0`);
  return { owner, dseq, gseq, oseq };
}

/** A complete bid or lease id. Throws `sdk/7`, `sdk/18`, `market/1` or `market/2`. */
export function readBidId(id: BidKey | undefined): BidKey {
  const { provider = "" } = id ?? {};
  const order = readOrderId(id);
  checkProvider(order.owner, provider);
  return { ...order, provider };
}

function checkProvider(owner: string, provider: string): void {
  if (provider === "") throw errors.emptyProvider();
  checkAddress("provider", provider);
  if (owner === provider) throw errors.sameAccount(owner);
}

/** A price of 0 or more, scaled 10^18. Throws `market/22`. */
function readPrice(coin: DecCoin | undefined): DecimalCoin {
  const amount = tryParseInt(coin?.amount ?? "");
  if (coin === undefined || amount === undefined || amount < 0n || !isDenom(coin.denom))
    throw errors.invalidPrice(`"${(coin?.amount ?? "").slice(0, 80)}" is not a decimal amount with a denomination`);
  return { denom: coin.denom, amount };
}

/** Why a provider ends a bid or lease; unspecified unless given. Throws `market/33`. */
function readReason(reason: Closed_Reason): Closed_Reason {
  if (reason === Closed_Reason.not_closed) return Closed_Reason.unspecified;
  if (reason < 10_000 || reason > 19_999 || Closed_Reason[reason] === undefined)
    throw errors.invalidReason(`${reason} is not a reason that a provider may give`, {
      hint: "give unstable, decommission, unspecified or manifest_timeout",
    });
  return reason;
}
