import {
  blockSeconds,
  type ChainClient,
  type ChainQuery,
  DEFAULT_GAS,
  feeFor,
  followBlocks,
  type MarketReader,
  marketReader,
  type TxOptions,
} from "../../client/index.ts";
import { type DecimalCoin, formatDecCoin, type IntCoin } from "../../util/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { formatBidId, formatLeaseId, marketErrors } from "../../wire/index.ts";
import { deployErrors } from "../session/errors.ts";
import type { Market } from "../session/market.ts";

/** Options of transactions: the client library's, including the command line's. */
export type MarketTxOptions = Pick<
  TxOptions,
  "gas" | "gasAdjustment" | "fees" | "gasPrices" | "memo" | "timeoutHeight" | "signMode"
>;

/** The chain, and an account whose transactions something else signs and sends, such as a wallet. */
export interface SentMarketOptions extends Pick<Market, "owner" | "send"> {
  readonly chain: ChainClient;
  /** Queries whose answers the node proves, for records that are relied on; the node is believed without. */
  readonly proven?: ChainQuery;
  /** How fees of its transactions are reckoned. */
  readonly tx: MarketTxOptions;
}

/** The marketplace over a node, for one tenant. */
export async function marketBy({ chain, proven, tx, owner, send }: SentMarketOptions): Promise<Market> {
  const ends: MarketEnds = {
    owner,
    chainId: await chain.chainId(),
    height: async () => (await chain.node.status()).latestHeight,
    nextBlock: (after, signal) => nextBlock(chain, after, signal),
    blockSeconds: () => blockSeconds(chain),
    fee: (messages) => feeOf(tx, messages),
    send,
  };
  return chainMarket(chain.query, ends, proven);
}

function feeOf(tx: MarketTxOptions, messages: number): IntCoin[] {
  const { amount } = feeFor(gasFor(tx, messages), tx);
  return amount.map((coin) => ({ denom: coin.denom, amount: BigInt(coin.amount) }));
}

/** The requested gas limit; an estimate is known only once there is something to estimate. */
export function gasFor({ gas }: MarketTxOptions, messages: number): bigint {
  return gas === undefined || gas === "auto" ? DEFAULT_GAS * BigInt(messages) : gas;
}

export async function nextBlock(chain: ChainClient, after: bigint, signal: AbortSignal): Promise<bigint> {
  for await (const block of followBlocks(chain, { from: after + 1n, signal })) return block.height;
  throw deployErrors.interrupted();
}

/** The parts of a market that are not queries: time and transactions. */
type MarketEnds = Pick<Market, "owner" | "chainId" | "height" | "nextBlock" | "blockSeconds" | "fee" | "send">;

/** The marketplace of a chain, through its queries; records that are relied on through proven ones, if there are any. */
export function chainMarket(query: ChainQuery, ends: MarketEnds, proven: ChainQuery = query): Market {
  const { owner } = ends;
  const lists = marketReader(query);
  const records = marketReader(proven);
  return {
    ...ends,
    ...(proven === query ? BELIEVED : confirmations(records)),
    terms: records.depositTerms,
    async balance(denom) {
      const { balance } = await proven.call(BankQuery.method.balance, { address: owner, denom });
      return BigInt(balance?.amount || "0");
    },
    deployment: (dseq) => records.deployment({ owner, dseq }),
    deployments: (state) => lists.deployments({ owner, state }),
    openOrders: (dseq) => lists.orders({ owner, dseq, state: "open" }),
    openBids: (dseq) => lists.bids({ owner, dseq, state: "open" }),
    leases: (dseq) => lists.leases({ owner, dseq }),
    providers: lists.providers,
    provider: records.provider,
    auditors: async (provider) => (await lists.audits(provider)).map(({ auditor }) => auditor),
  };
}

type Confirmations = Pick<Market, "confirmBids" | "confirmLeases">;

const BELIEVED: Confirmations = { async confirmBids() {}, async confirmLeases() {} };

function confirmations(records: MarketReader): Confirmations {
  return {
    async confirmBids(bids) {
      for (const { id, price } of bids) {
        const bid = await records.bid(id);
        // It may have ended since the list was read.
        if (bid?.state !== "open") throw marketErrors.bidNotOpen(formatBidId(id));
        requirePrice(`bid ${formatBidId(id)}`, price, bid.price);
      }
    },
    async confirmLeases(leases) {
      for (const { id, price } of leases) {
        const name = `lease ${formatLeaseId(id)}`;
        const [lease, deployment] = await Promise.all([records.lease(id), records.deployment(id)]);
        if (lease?.state !== "active") throw deployErrors.disproved(`${name} is ${lease?.state ?? "not there"}`);
        requirePrice(name, price, lease.price);
        if (deployment?.state !== "active") throw deployErrors.disproved(`${name}: its deployment is not active`);
        if ((deployment.escrow?.balance ?? 0n) === 0n)
          throw deployErrors.disproved(`${name}: its deployment has no funds`);
      }
    },
  };
}

function requirePrice(name: string, told: DecimalCoin, proven: DecimalCoin): void {
  const [said, price] = [formatDecCoin(told), formatDecCoin(proven)];
  if (said !== price) throw deployErrors.disproved(`${name} costs ${price} per block and not ${said}`);
}
