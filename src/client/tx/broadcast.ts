import { isOneOf, sdkErrors } from "../../util/index.ts";
import { txHash } from "../../wire/index.ts";
import type { ChainClient } from "../chain/chain.ts";
import type { BroadcastResult, CommittedTx } from "../chain/node.ts";
import { clientErrors, isBusy, RpcError } from "../errors.ts";
import { Wake } from "../wake.ts";
import { broadcastResponse, committedResponse, type TxResponse } from "./tx-response.ts";

/** `async` waits for nothing, `sync` for the mempool's check, `block` for the commit. */
export type BroadcastMode = "sync" | "async" | "block";

/** How long and how often to ask for a transaction. */
export interface WaitOptions {
  /** Longest wait for the commit in milliseconds; default 60 s. */
  readonly timeoutMs?: number;
  /**
   * Longest pause between two polls in milliseconds; default 250. The first ones are shorter: a block may be near.
   */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
}

const DEFAULT_WAIT_MS = 60_000;
const DEFAULT_POLL_MS = 250;
/** The first pause as a part of the longest. */
const FIRST_PAUSE = 0.1;

/** Transactions on their way, whose hash is known before the node has answered. */
const latest = new WeakMap<ChainClient, { hash: string; state: "sending" | "sent" | "included" }>();

/** The transaction that a client handed in last, for a caller that ends meanwhile; undefined if the node refused it. */
export const latestHandIn = (chain: ChainClient) => latest.get(chain);

/**
 * Broadcasts a signed transaction. A refusal is not an exception: the response's code says so. Rejects with
 * `clientErrors.timeout` when mode `block` times out; the transaction may still be included then.
 */
export async function broadcastTx(
  chain: ChainClient,
  tx: Uint8Array,
  mode: BroadcastMode = "sync",
  wait: WaitOptions = {},
): Promise<TxResponse> {
  if (wait.signal?.aborted === true) throw clientErrors.closed("nothing was sent");
  latest.set(chain, { hash: txHash(tx), state: "sending" });
  const response = broadcastResponse(await handIn(chain, tx, mode === "async" ? "async" : "sync"));
  if (response.code === 0 || isOneOf([sdkErrors.txInMempool], response))
    latest.set(chain, { hash: response.txhash, state: "sent" });
  else latest.delete(chain);
  if (mode !== "block" || response.code !== 0) return response;
  return committedResponse(await waitForTx(chain, response.txhash, wait));
}

/** Answers of the mempool that arrive as errors of the call, and their codes. */
const MEMPOOL_REFUSALS: readonly (readonly [text: string, error: typeof sdkErrors.txInMempool])[] = [
  ["tx already exists in cache", sdkErrors.txInMempool],
  ["mempool is full", sdkErrors.mempoolFull],
  ["tx too large", sdkErrors.txTooLarge],
];

async function handIn(chain: ChainClient, tx: Uint8Array, mode: "sync" | "async"): Promise<BroadcastResult> {
  try {
    return await chain.node.broadcast(tx, mode);
  } catch (error) {
    const words = error instanceof RpcError ? error.message.toLowerCase() : "";
    const refusal = MEMPOOL_REFUSALS.find(([text]) => words.includes(text))?.[1];
    if (refusal === undefined) throw error;
    return { hash: txHash(tx), code: refusal.code, codespace: "sdk", log: "", data: new Uint8Array() };
  }
}

/** Waits until a transaction is committed. Rejects with `clientErrors.timeout`, or `closed` if it has to stop. */
export async function waitForTx(chain: ChainClient, hash: string, options: WaitOptions = {}): Promise<CommittedTx> {
  const { timeoutMs = DEFAULT_WAIT_MS, pollMs = DEFAULT_POLL_MS, signal } = options;
  const deadline = performance.now() + timeoutMs;
  const pause = new Wake();
  let pauseMs = pollMs * FIRST_PAUSE;
  let problem: unknown;
  while (signal?.aborted !== true) {
    try {
      const found = await chain.node.tx(hash);
      if (found !== undefined) {
        if (latest.get(chain)?.hash === hash) latest.set(chain, { hash, state: "included" });
        return found;
      }
      problem = undefined;
    } catch (error) {
      if (!isBusy(error) && !isOneOf([clientErrors.unreachable], error)) throw error;
      problem = error;
    }
    if (performance.now() + pauseMs > deadline) break;
    await pause.sleep(pauseMs, signal);
    pauseMs = Math.min(pollMs, pauseMs * 1.5);
  }
  if (signal?.aborted === true) throw clientErrors.closed(`no longer waiting for transaction ${hash}`);
  if (problem instanceof Error) throw problem;
  const waited = `transaction ${hash} was not in a block after ${timeoutMs / 1000} s`;
  throw clientErrors.timeout(waited, { hint: `it may still be included: svc query tx ${hash}` });
}
