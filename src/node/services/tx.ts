import { create } from "@bufbuild/protobuf";
import { logOf } from "../../abci/index.ts";
import {
  blockIdMessage,
  blockMessage,
  type ChainSource,
  type FoundTx,
  formatSeconds,
  parseQuery,
} from "../../engine/index.ts";
import { StatusError } from "../../runtime/index.ts";
import { assert, errorText, fromHex, SvcError, sdkErrors, toHexUpper } from "../../util/index.ts";
import {
  type ABCIMessageLog,
  ABCIMessageLogSchema,
  type TxResponse,
  TxResponseSchema,
} from "../../wire/gen/sdk/base/abci/v1beta1/abci_pb.js";
import { BroadcastMode, type GetTxsEventRequest, OrderBy, Service } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { type Tx, TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  decodeMessage,
  decodeTx,
  encodeMessage,
  jsonRefusal,
  makeAny,
  type Namespace,
  stdTxFromJson,
  stdTxToJson,
  toNamespace,
  txHash,
} from "../../wire/index.ts";
import { bindNodeService } from "./bind.ts";
import type { CommitWaiters } from "./commit-waiters.ts";

const HASH_DIGITS = 64;
const MAX_PER_PAGE = 100n;
/** Bytes of the transactions of one page; an answer contains each three times. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024;
const COMMIT_TIMEOUT_MS = 10_000;

/** The part of the transaction service that needs the blocks or the mempool; the application simulates. */
export const txService = bindNodeService(Service, {
  async getTx({ chain, namespace }, { hash }) {
    if (!/^[0-9a-fA-F]+$/.test(hash)) throw sdkErrors.invalidRequest("a transaction hash has 64 hex digits");
    // Digits of another length are the hash of nothing, as in the ecosystem.
    const found = hash.length === HASH_DIGITS ? await chain.txs.find(fromHex(hash)) : undefined;
    if (found === undefined) throw sdkErrors.keyNotFound(`tx not found: ${hash.toUpperCase().slice(0, HASH_DIGITS)}`);
    return { tx: decodeTxMessage(found.tx), txResponse: await txResponse(chain, found, namespace) };
  },

  async getTxsEvent({ chain, namespace }, request) {
    const text = request.query === "" ? request.events.join(" AND ") : request.query;
    if (text === "") throw sdkErrors.invalidRequest("query cannot be empty");
    const { page, perPage } = pageOf(request);
    const descending = request.orderBy === OrderBy.DESC;
    const { total, found } = await chain.txs.search({ query: readQuery(text), page, perPage, descending });
    checkPageBytes(found);
    return {
      txs: found.map(({ tx }) => decodeTxMessage(tx)),
      txResponses: await Promise.all(found.map((tx) => txResponse(chain, tx, namespace))),
      pagination: { total: BigInt(total) },
      total: BigInt(total),
    };
  },

  async getBlockWithTxs({ chain }, { height, pagination }) {
    const { height: last } = await chain.status();
    if (height < 1n || height > last)
      throw sdkErrors.invalidHeight(
        `requested height ${height} but height must not be less than 1 or greater than the current height ${last}`,
      );
    const [record, block] = [await chain.blocks.record(height), await chain.blocks.block(height)];
    if (record === undefined || block === undefined) throw sdkErrors.notFound(`block ${height}`);
    const { offset = 0n, limit = 0n, reverse = false } = pagination ?? {};
    const size = limit === 0n || limit > MAX_PER_PAGE ? MAX_PER_PAGE : limit;
    const start = offset > BigInt(block.txs.length) ? block.txs.length : Number(offset);
    const page = (reverse ? [...block.txs].reverse() : block.txs).slice(start, start + Number(size));
    return {
      txs: page.map(decodeTxMessage),
      blockId: blockIdMessage(record.commit.blockId),
      block: blockMessage(block),
      pagination: { total: BigInt(block.txs.length) },
    };
  },

  txDecode(_, { txBytes }) {
    if (txBytes.length === 0) throw sdkErrors.invalidRequest("invalid empty tx bytes");
    // Fields are limited here, since the answer has all fields in JSON.
    decodeTx(txBytes);
    return { tx: decodeTxMessage(txBytes) };
  },

  txEncode(_, { tx }) {
    if (tx === undefined) throw sdkErrors.invalidRequest("invalid empty tx");
    // The decoded form has the same fields as the raw one.
    return { txBytes: encodeMessage(TxSchema, tx) };
  },

  txEncodeAmino(_, { aminoJson }) {
    if (aminoJson === "") throw sdkErrors.invalidRequest("invalid empty tx json");
    const refusal = jsonRefusal(aminoJson);
    if (refusal !== undefined) throw sdkErrors.invalidRequest(refusal);
    return { aminoBinary: stdTxFromJson(aminoJson) };
  },

  txDecodeAmino(_, { aminoBinary }) {
    if (aminoBinary.length === 0) throw sdkErrors.invalidRequest("invalid empty tx bytes");
    return { aminoJson: stdTxToJson(aminoBinary) };
  },

  async broadcastTx({ chain, waiters, namespace }, { txBytes, mode }) {
    if (txBytes.length === 0) throw sdkErrors.invalidRequest("invalid empty tx");
    if (mode === BroadcastMode.BLOCK && waiters !== undefined)
      return { txResponse: await inBlock(chain, txBytes, { waiters, namespace }) };
    if (mode !== BroadcastMode.SYNC && mode !== BroadcastMode.ASYNC)
      throw sdkErrors.invalidRequest(
        `unsupported return type ${BroadcastMode[mode] ?? mode}; supported types: ${waiters === undefined ? "" : "block, "}sync, async`,
      );
    return { txResponse: await handIn(chain, txBytes, mode === BroadcastMode.ASYNC) };
  },
});

/** The mempool's immediate answer; with `async` a refused transaction returns only its hash. */
async function handIn(chain: ChainSource, txBytes: Uint8Array, async: boolean): Promise<TxResponse> {
  const txhash = txHash(txBytes);
  try {
    const { result } = await chain.mempool.add(txBytes);
    if (async) return create(TxResponseSchema, { txhash });
    const { code, codespace, log } = result;
    return create(TxResponseSchema, { txhash, code, codespace, rawLog: log, data: toHexUpper(result.data) });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return create(TxResponseSchema, { txhash, ...(async ? {} : { code: error.code, codespace: error.codespace }) });
  }
}

/** The mempool's refusal, or the result of the transaction's block. */
async function inBlock(
  chain: ChainSource,
  txBytes: Uint8Array,
  { waiters, namespace }: { readonly waiters: CommitWaiters; readonly namespace: Namespace },
): Promise<TxResponse> {
  const waiting = waiters.wait(fromHex(txHash(txBytes)), COMMIT_TIMEOUT_MS);
  // After a refusal by the mempool, this result is not awaited.
  waiting.committed.catch(() => {});
  try {
    const accepted = await handIn(chain, txBytes, false);
    if (accepted.code !== 0) return accepted;
    await waiting.committed;
  } finally {
    waiting.cancel();
  }
  const found = await chain.txs.find(fromHex(txHash(txBytes)));
  assert(found !== undefined, "a committed transaction is found");
  return { ...(await txResponse(chain, found, namespace)), tx: undefined, timestamp: "" };
}

/** Writing a page of large transactions would keep other requests waiting. */
function checkPageBytes(found: readonly FoundTx[]): void {
  const bytes = found.reduce((sum, { tx }) => sum + tx.length, 0);
  if (bytes <= MAX_PAGE_BYTES || found.length <= 1) return;
  const text = `the transactions of this page have more than ${MAX_PAGE_BYTES} bytes: ask for fewer with limit`;
  throw new StatusError("ResourceExhausted", sdkErrors.invalidRequest(text), text);
}

function readQuery(text: string) {
  try {
    return parseQuery(text);
  } catch (error) {
    throw sdkErrors.invalidRequest(errorText(error));
  }
}

/** Older clients page by offset and limit, newer ones by page and limit. */
function pageOf({ page, limit, pagination }: GetTxsEventRequest): { page: number; perPage: number } {
  const asked = limit > 0n ? limit : (pagination?.limit ?? 0n);
  const perPage = asked === 0n || asked > MAX_PER_PAGE ? MAX_PER_PAGE : asked;
  const number = page > 0n ? page : (pagination?.offset ?? 0n) / perPage + 1n;
  return { page: Number(number), perPage: Number(perPage) };
}

/** The broadcast bytes are the message that holds the decoded parts. */
function decodeTxMessage(tx: Uint8Array): Tx {
  return decodeMessage(TxSchema, tx, sdkErrors.txDecode);
}

/** A committed transaction in the form of the era's results. */
async function txResponse(chain: ChainSource, found: FoundTx, namespace: Namespace): Promise<TxResponse> {
  const { hash, height, result, tx } = found;
  const log = logOf(result);
  const time = (await chain.blocks.record(height))?.header.time ?? 0n;
  return create(TxResponseSchema, {
    height,
    txhash: toHexUpper(hash),
    codespace: result.codespace,
    code: result.code,
    data: toHexUpper(result.data),
    rawLog: log,
    logs: result.code === 0 ? readLogs(log) : [],
    gasWanted: result.gasWanted,
    gasUsed: result.gasUsed,
    tx: makeAny(toNamespace("/sdk.tx.v1beta1.Tx", namespace), tx),
    timestamp: formatSeconds(time),
    events: result.events.map(({ type, attributes }) => ({ type, attributes: [...attributes] })),
  });
}

interface LogEntry {
  readonly msg_index?: number;
  readonly events: { readonly type: string; readonly attributes: { readonly key: string; readonly value: string }[] }[];
}

/** The log of a success is JSON that the application wrote. */
function readLogs(log: string): ABCIMessageLog[] {
  if (!log.startsWith("[")) return [];
  const entries: LogEntry[] = JSON.parse(log);
  return entries.map(({ msg_index = 0, events }) => create(ABCIMessageLogSchema, { msgIndex: msg_index, events }));
}
