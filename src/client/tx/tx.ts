import { type Any, encodeTx, signBytes } from "../../wire/index.ts";
import type { ChainClient } from "../chain/chain.ts";
import { clientErrors } from "../errors.ts";
import { type BroadcastMode, broadcastTx, type WaitOptions } from "./broadcast.ts";
import { authInfoOf, type PreparedTx, prepareTx, type TxOptions, type TxSigner, withSequence } from "./prepare.ts";
import { MAX_SEQUENCE_TRIES, newerSequence } from "./sequence.ts";
import { SIGNATURE_LENGTH } from "./simulate.ts";
import { committedResponse, type TxResponse } from "./tx-response.ts";

/** Signs a prepared transaction; the bytes are ready for broadcast. */
export async function signTx(tx: PreparedTx, signer: TxSigner): Promise<Uint8Array> {
  const parts = { bodyBytes: tx.bodyBytes, authInfoBytes: authInfoOf(tx, signer.publicKey) };
  const signature = await signer.sign(signBytes(tx.signMode, parts, tx.signer), tx.signMode);
  if (signature.length !== SIGNATURE_LENGTH) throw clientErrors.signing(`the signature has ${signature.length} bytes`);
  return encodeTx(parts, [signature]);
}

/** How a prepared transaction is broadcast and waited for. */
export interface HandInOptions {
  readonly mode?: BroadcastMode;
  readonly wait?: WaitOptions | undefined;
  /** The caller chose the sequence: it is kept even if the node refuses it as old. */
  readonly fixedSequence?: boolean;
  /** Runs once, after the transaction is signed and before anything is sent. */
  readonly onSigned?: (() => Promise<void>) | undefined;
  /** Receives the sequence with which the transaction is signed again. */
  readonly onNewSequence?: (sequence: bigint) => void;
}

/**
 * Signs and broadcasts a prepared transaction. If another transaction of the account has used its sequence meanwhile,
 * it is signed again with the next: the node has refused the first for good, so both can never be included.
 */
export async function handInTx(
  chain: ChainClient,
  signer: TxSigner,
  tx: PreparedTx,
  options: HandInOptions = {},
): Promise<TxResponse> {
  const { mode = "block", wait, fixedSequence = false } = options;
  for (let tries = 1, draft = tx; ; tries++) {
    const bytes = await signTx(draft, signer);
    if (tries === 1) await options.onSigned?.();
    const response = await broadcastTx(chain, bytes, mode, wait);
    const used = draft.signer.sequence;
    const { codespace, code, rawLog: text, height } = response;
    const mayChange = !fixedSequence && tries < MAX_SEQUENCE_TRIES && height === 0n;
    const next = await newerSequence(chain, signer.address, {
      refusal: mayChange ? { codespace, code, text } : undefined,
      used,
    });
    if (next === undefined) return response;
    const earlier = await includedBefore(chain, response);
    if (earlier !== undefined) return earlier;
    options.onNewSequence?.(next);
    draft = withSequence(draft, next);
  }
}

/**
 * The refused transaction may have been sent before a connection broke: then it is in a block, and no second one is
 * made. If the node cannot tell, the refusal stands.
 */
async function includedBefore(chain: ChainClient, refused: TxResponse): Promise<TxResponse | undefined> {
  try {
    const found = await chain.node.tx(refused.txhash);
    return found === undefined ? undefined : committedResponse(found);
  } catch {
    return refused;
  }
}

/** How a transaction is made, broadcast and waited for. */
export interface SendOptions extends TxOptions {
  readonly mode?: BroadcastMode;
  readonly wait?: WaitOptions;
}

/** Prepares, signs and broadcasts messages in one call. */
export async function sendTx(
  chain: ChainClient,
  signer: TxSigner,
  messages: readonly Any[],
  options: SendOptions = {},
): Promise<TxResponse> {
  const prepared = await prepareTx(chain, signer, messages, options);
  const { mode = "block", wait, sequence } = options;
  return handInTx(chain, signer, prepared, { mode, wait, fixedSequence: sequence !== undefined });
}
