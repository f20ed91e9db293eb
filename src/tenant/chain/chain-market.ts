import { type ChainQuery, marketReader } from "../../client/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import type { Market } from "../session/market.ts";

/** The parts of a market that are not queries: time and transactions. */
export type MarketEnds = Pick<Market, "owner" | "chainId" | "height" | "nextBlock" | "blockSeconds" | "fee" | "send">;

/** The marketplace of a chain, through its queries. */
export function chainMarket(query: ChainQuery, ends: MarketEnds): Market {
  const { owner } = ends;
  const reader = marketReader(query);
  return {
    ...ends,
    terms: reader.depositTerms,
    async balance(denom) {
      const { balance } = await query.call(BankQuery.method.balance, { address: owner, denom });
      return BigInt(balance?.amount || "0");
    },
    deployment: (dseq) => reader.deployment({ owner, dseq }),
    deployments: (state) => reader.deployments({ owner, state }),
    openOrders: (dseq) => reader.orders({ owner, dseq, state: "open" }),
    openBids: (dseq) => reader.bids({ owner, dseq, state: "open" }),
    leases: (dseq) => reader.leases({ owner, dseq }),
    providers: reader.providers,
    provider: reader.provider,
    auditors: async (provider) => (await reader.audits(provider)).map(({ auditor }) => auditor),
  };
}
