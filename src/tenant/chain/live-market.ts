import {
  blockSeconds,
  type ChainClient,
  type ChainQuery,
  committedResponse,
  DEFAULT_GAS,
  feeFor,
  followBlocks,
  type MarketReader,
  marketReader,
  sendTx,
  type TxOptions,
  type TxResponse,
  type TxSigner,
  txError,
  type WaitOptions,
  waitForTx,
} from "../../client/index.ts";
import { DEC_ONE, type DecimalCoin, formatDecCoin, type IntCoin, isOneOf, sdkErrors } from "../../util/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { type Any, formatBidId, formatLeaseId, marketErrors } from "../../wire/index.ts";
import { deployErrors } from "../session/errors.ts";
import type { CommittedMessages, Market } from "../session/market.ts";

/** Options of transactions: the client library's, including the command line's. */
export type MarketTxOptions = Pick<
  TxOptions,
  "gas" | "gasAdjustment" | "fees" | "gasPrices" | "memo" | "timeoutHeight" | "signMode"
>;

/** The chain and the account of a tenant. */
export interface LiveMarketOptions {
  readonly chain: ChainClient;
  /** Queries whose answers the node proves, for records that are relied on; the node is believed without. */
  readonly proven?: ChainQuery;
  readonly signer: TxSigner;
  readonly tx: MarketTxOptions;
  /** Ends the wait for a transaction. */
  readonly signal: AbortSignal;
}

const MAX_TRIES = 10;
/** Gas grows with the size: for a large deployment the usual limit is too low, and the fee would be lost. */
const LARGE_BYTES = 1_000;
/** The gas of these messages grows with the number of leases that end. */
const GROWING = ["/svc.deployment.v1beta1.MsgCloseDeployment"];
/** Default factor of the estimate: amounts grow until the block comes. */
const ESTIMATE_MARGIN = (DEC_ONE * 13n) / 10n;
const COMMIT_TIMEOUT_MS = 120_000;
/** A transaction of ours in the mempool uses the sequence that the chain returns. */
const SEQUENCE_TAKEN = [sdkErrors.invalidSequence, sdkErrors.wrongSequence];

/** The marketplace over a node, for one tenant. */
export async function liveMarket(options: LiveMarketOptions): Promise<Market> {
  const { chain, signer } = options;
  const height = async (): Promise<bigint> => (await chain.node.status()).latestHeight;
  const ends: MarketEnds = {
    owner: signer.address,
    chainId: await chain.chainId(),
    height,
    nextBlock: (after, signal) => nextBlock(chain, after, signal),
    blockSeconds: () => blockSeconds(chain),
    fee: (messages) => feeOf(options.tx, messages),
    send: (messages) => sendCommitted(options, messages),
  };
  return chainMarket(chain.query, ends, options.proven);
}

function feeOf(tx: MarketTxOptions, messages: number): IntCoin[] {
  const { amount } = feeFor(gasFor(tx, messages), tx);
  return amount.map((coin) => ({ denom: coin.denom, amount: BigInt(coin.amount) }));
}

/** The requested gas limit; an estimate is known only once there is something to estimate. */
function gasFor({ gas }: MarketTxOptions, messages: number): bigint {
  return gas === undefined || gas === "auto" ? DEFAULT_GAS * BigInt(messages) : gas;
}

async function nextBlock(chain: ChainClient, after: bigint, signal: AbortSignal): Promise<bigint> {
  for await (const block of followBlocks(chain, { from: after + 1n, signal })) return block.height;
  throw deployErrors.interrupted();
}

/** Sends messages until they are in a block; waits for an earlier transaction of the account if that is pending. */
async function sendCommitted(
  { chain, signer, tx, signal }: LiveMarketOptions,
  messages: readonly Any[],
): Promise<CommittedMessages> {
  const bytes = messages.reduce((sum, { value }) => sum + value.length, 0);
  const isLarge = bytes > LARGE_BYTES || messages.some(({ typeUrl }) => GROWING.includes(typeUrl));
  const gas = tx.gas === "auto" || (tx.gas === undefined && isLarge) ? "auto" : gasFor(tx, messages.length);
  const gasAdjustment = tx.gasAdjustment ?? ESTIMATE_MARGIN;
  const wait = { timeoutMs: COMMIT_TIMEOUT_MS, signal };
  for (let tries = 1; ; tries++) {
    const answer = await sendTx(chain, signer, messages, { ...tx, gas, gasAdjustment, mode: "block", wait });
    const response = await committed(chain, answer, wait);
    if (response.code === 0) return { hash: response.txhash, height: response.height };
    const isTaken = isOneOf(SEQUENCE_TAKEN, response);
    if (!isTaken || tries >= MAX_TRIES) throw await txError(response);
    const { latestHeight } = await chain.node.status();
    await nextBlock(chain, latestHeight, AbortSignal.any([signal, AbortSignal.timeout(COMMIT_TIMEOUT_MS)]));
  }
}

/**
 * The same transaction of an interrupted run may still be in the mempool: we wait for its block. That is safe here,
 * because no message has its effect twice.
 */
async function committed(chain: ChainClient, answer: TxResponse, wait: WaitOptions): Promise<TxResponse> {
  const isKnown = isOneOf([sdkErrors.txInMempool], answer);
  return isKnown ? committedResponse(await waitForTx(chain, answer.txhash, wait)) : answer;
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
