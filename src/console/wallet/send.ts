import * as v from "valibot";
import {
  accountInfo,
  broadcastTx,
  type ChainClient,
  clientErrors,
  committedResponse,
  type PreparedTx,
  prepareTx,
  type TxResponse,
  waitForTx,
} from "../../client/index.ts";
import {
  type DecimalCoin,
  DISPLAY_EXPONENT,
  fromBase64,
  isOneOf,
  parseDec,
  sdkErrors,
  toBase64,
} from "../../util/index.ts";
import { AuthInfoSchema, TxRawSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  type Any,
  decodeMessage,
  encodeAddress,
  publicKeyAddress,
  publicKeyFromAny,
  txHash,
} from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";
import type { Wallet } from "./wallet.ts";

/** Room for what a block may add to the gas of a simulation. */
const GAS_ADJUSTMENT = parseDec("1.3");
/** Largest fee that a page pays, in the smallest unit of any denomination: the node names the price, and not every wallet shows the fee. */
export const MAX_FEE = 10n ** BigInt(DISPLAY_EXPONENT);
/** A node may list a transaction later than it counts the account's sequence. */
const LISTED_MS = 3000;

/** Stages of a transaction that a page tells of. */
export type SendStage = "waiting" | "settling" | "preparing" | "signing" | "sending";

/** Means of a page to send transactions. */
export interface SendPlace {
  readonly chain: ChainClient;
  /** The chain that the pages show. */
  readonly chainId: string;
  /** Texts that this browser keeps when the page ends. */
  readonly storage: {
    getItem(name: string): string | null;
    setItem(name: string, value: string): void;
    removeItem(name: string): void;
  };
  /** Locks between all tabs of this origin; undefined where the browser has none. */
  readonly locks: { request<T>(name: string, run: () => Promise<T>): Promise<T> } | undefined;
  readonly gasPrices: readonly DecimalCoin[];
  readonly onStage: (stage: SendStage, hash?: string) => void;
}

/** A transaction in a block, or refused by the node. */
export interface Sent {
  readonly response: TxResponse;
  /** It is the one before, whose fate was not known until now: the new one was not signed. */
  readonly isEarlier: boolean;
}

/**
 * Signs messages with a wallet and waits for their block. One tab at a time does so for an account. Rejects with one of `walletErrors`;
 * after `unknownFate` the next call looks for the same transaction before anything is signed.
 */
export function sendFrom(wallet: Wallet, messages: readonly Any[], place: SendPlace, memo = ""): Promise<Sent> {
  const { locks, onStage, chainId } = place;
  const run = async (): Promise<Sent> => {
    await checkNode(wallet, place);
    const open = readOpen(place, wallet.address);
    onStage("settling", open?.hash);
    const { response, sequence } = open === undefined ? {} : await settle(place, wallet.address, open);
    if (response !== undefined) return { response, isEarlier: true };
    return { response: await sendNew(wallet, messages, { place, memo, sequence }), isEarlier: false };
  };
  onStage("waiting");
  return locks === undefined ? run() : locks.request(`svc ${chainId} ${wallet.address}`, run);
}

/** The node may have changed behind the page. */
async function checkNode(wallet: Wallet, { chain, chainId }: SendPlace): Promise<void> {
  const { chainId: now } = await chain.node.status();
  for (const id of [now, wallet.chainId])
    if (id !== chainId) throw walletErrors.otherChain(`${id} instead of ${chainId}`);
}

interface NewTx {
  readonly place: SendPlace;
  readonly memo: string;
  /** The sequence of a transaction that the node has refused: of two with the same one, at most one can be in a block. */
  readonly sequence: bigint | undefined;
}

async function sendNew(
  wallet: Wallet,
  messages: readonly Any[],
  { place, memo, sequence }: NewTx,
): Promise<TxResponse> {
  const { chain, onStage, gasPrices } = place;
  if (wallet.publicKey === undefined) throw walletErrors.readOnly();
  onStage("preparing");
  const account = { address: wallet.address, publicKey: wallet.publicKey };
  const options = { memo, gas: "auto", gasAdjustment: GAS_ADJUSTMENT, gasPrices, signMode: wallet.signMode } as const;
  const tx = await prepareTx(chain, account, messages, sequence === undefined ? options : { ...options, sequence });
  checkFee(tx);
  onStage("signing");
  const bytes = await wallet.signTx(tx);
  const open = { hash: txHash(bytes), bytes, sequence: tx.signer.sequence };
  keepOpen(place, wallet.address, open);
  return handIn(place, wallet.address, open);
}

function checkFee({ fee }: PreparedTx): void {
  const high = fee.amount.find(({ amount }) => BigInt(amount) > MAX_FEE);
  if (high !== undefined) throw walletErrors.highFee(`${high.amount}${high.denom} instead of at most ${MAX_FEE}`);
}

/** A signed transaction that may be on its way. */
interface OpenTx {
  readonly hash: string;
  readonly bytes: Uint8Array;
  readonly sequence: bigint;
}

/** Broadcasts the bytes and waits for their block. The record stays until the node has told their fate. */
async function handIn(place: SendPlace, address: string, { hash, bytes }: OpenTx): Promise<TxResponse> {
  const { chain, onStage } = place;
  onStage("sending", hash);
  try {
    let response = await broadcastTx(chain, bytes, "block");
    // A node that has the bytes already waits for their block as well.
    if (isOneOf([sdkErrors.txInMempool], response)) response = committedResponse(await waitForTx(chain, hash));
    // A connection that broke may have carried them before.
    else if (isOneOf([sdkErrors.wrongSequence], response)) response = (await listed(chain, hash)) ?? response;
    place.storage.removeItem(nameOf(place, address));
    return response;
  } catch (error) {
    throw walletErrors.unknownFate(hash, { cause: error });
  }
}

/** The fate of an earlier transaction. */
interface Settled {
  /** Its result in a block. */
  readonly response?: TxResponse | undefined;
  /** Its sequence, if the node has refused it and the sequence is still free. */
  readonly sequence?: bigint;
}

/** Finds out about an earlier transaction. The same bytes are broadcast again, since they cannot take effect twice. */
async function settle(place: SendPlace, address: string, open: OpenTx): Promise<Settled> {
  const { chain } = place;
  const found = await chain.node.tx(open.hash);
  const { sequence } = await accountInfo(chain.query, address);
  if (found === undefined && sequence <= open.sequence) {
    const response = await handIn(place, address, open);
    return response.height === 0n ? { sequence: open.sequence } : { response };
  }
  const response = found === undefined ? await listed(chain, open.hash) : committedResponse(found);
  place.storage.removeItem(nameOf(place, address));
  return { response };
}

/** The transaction, if it is in a block. */
async function listed(chain: ChainClient, hash: string): Promise<TxResponse | undefined> {
  try {
    return committedResponse(await waitForTx(chain, hash, { timeoutMs: LISTED_MS }));
  } catch (error) {
    if (isOneOf([clientErrors.timeout], error)) return undefined;
    throw error;
  }
}

const record = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    bytes: v.pipe(v.string(), v.base64(), v.transform(fromBase64)),
    sequence: v.pipe(
      v.string(),
      v.regex(/^\d{1,19}$/),
      v.transform((text) => BigInt(text)),
    ),
  }),
);

function nameOf({ chainId }: SendPlace, address: string): string {
  return `svc open ${chainId} ${address}`;
}

function keepOpen(place: SendPlace, address: string, { bytes, sequence }: OpenTx): void {
  const text = JSON.stringify({ bytes: toBase64(bytes), sequence: sequence.toString() });
  place.storage.setItem(nameOf(place, address), text);
}

/** A record that was changed cannot be settled: it is forgotten, and nothing is signed before its owner has heard of it. */
function readOpen(place: SendPlace, address: string): OpenTx | undefined {
  const text = place.storage.getItem(nameOf(place, address));
  if (text === null) return undefined;
  const read = v.safeParse(record, text);
  if (read.success && signerOf(read.output.bytes) === address)
    return { ...read.output, hash: txHash(read.output.bytes) };
  place.storage.removeItem(nameOf(place, address));
  throw walletErrors.unreadable();
}

/** The account whose key stands first in a transaction; undefined if it cannot be read. */
function signerOf(bytes: Uint8Array): string | undefined {
  try {
    const { authInfoBytes } = decodeMessage(TxRawSchema, bytes);
    const key = decodeMessage(AuthInfoSchema, authInfoBytes).signerInfos[0]?.publicKey;
    return key && encodeAddress(publicKeyAddress(publicKeyFromAny(key)), "account");
  } catch {
    return undefined;
  }
}
