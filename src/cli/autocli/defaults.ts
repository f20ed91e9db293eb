import type { ChainClient } from "../../client/index.ts";
import { Query as MarketQuery } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import type { JsonObject } from "../../wire/index.ts";
import { commandError } from "../errors.ts";

/** Values of messages that the parameters of the chain suggest, by message and field. */
export const DEFAULTS: ReadonlyMap<string, (chain: ChainClient) => Promise<JsonObject>> = new Map([
  ["svc.market.v1beta1.MsgCreateBid.deposit", minBidDeposit],
]);

async function minBidDeposit({ query }: ChainClient): Promise<JsonObject> {
  const { params } = await query.call(MarketQuery.method.params, {});
  const [coin] = params?.bidMinDeposits ?? [];
  if (coin === undefined) throw commandError("the chain has no minimum deposit for bids", { hint: "give --deposit" });
  return { denom: coin.denom, amount: coin.amount };
}
