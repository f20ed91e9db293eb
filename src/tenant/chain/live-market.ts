import {
  type ChainClient,
  type ChainQuery,
  committedResponse,
  sendTx,
  type TxResponse,
  type TxSigner,
  txError,
  type WaitOptions,
  waitForTx,
} from "../../client/index.ts";
import { DEC_ONE, isOneOf, sdkErrors } from "../../util/index.ts";
import type { Any } from "../../wire/index.ts";
import { type GatewayPartsOptions, gatewayParts } from "../session/live-gateway.ts";
import type { CommittedMessages, Market } from "../session/market.ts";
import type { DeployParts } from "../session/session.ts";
import { gasFor, type MarketTxOptions, marketBy, nextBlock } from "./chain-market.ts";

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
export function liveMarket(options: LiveMarketOptions): Promise<Market> {
  return marketBy({ ...options, owner: options.signer.address, send: (messages) => sendCommitted(options, messages) });
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

/** Chain, account and gateways of a page that deploys. */
export interface WebPartsOptions extends GatewayPartsOptions {
  readonly chain: ChainClient;
  /** Queries whose answers the node proves, for records that are relied on; the node is believed without. */
  readonly proven?: ChainQuery;
  readonly signer: TxSigner;
  /** Gas, fees and the like of the transactions. */
  readonly tx?: MarketTxOptions;
  /** Ends the wait for a transaction. */
  readonly signal?: AbortSignal;
}

/** The parts of a deployment for a page: no files, no certificate, no probe of services from outside. */
export async function webParts(options: WebPartsOptions): Promise<DeployParts> {
  const { tx = {}, signal = new AbortController().signal } = options;
  return { market: await liveMarket({ ...options, tx, signal }), ...gatewayParts(options) };
}
