import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { AppQuery, AppQueryResult } from "../abci/index.ts";
import { type EmbeddedEngine, type FoundTx, formatSeconds, parseQuery, searchTxs } from "../engine/index.ts";
import { queryFailure } from "../runtime/index.ts";
import { errorText, fromHex, SvcError, sdkErrors, toHexUpper } from "../util/index.ts";
import {
  type ABCIMessageLog,
  ABCIMessageLogSchema,
  type TxResponse,
  TxResponseSchema,
} from "../wire/gen/sdk/base/abci/v1beta1/abci_pb.js";
import {
  GetTxRequestSchema,
  GetTxResponseSchema,
  type GetTxsEventRequest,
  GetTxsEventRequestSchema,
  GetTxsEventResponseSchema,
  OrderBy,
} from "../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { type Tx, TxSchema } from "../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeMessage, encodeMessage, makeAny, type Namespace, namespaceOf, toNamespace } from "../wire/index.ts";

const GET_TX = "/sdk.tx.v1beta1.Service/GetTx";
const GET_TXS_EVENT = "/sdk.tx.v1beta1.Service/GetTxsEvent";
const NOTHING = new Uint8Array();
const MAX_PER_PAGE = 100n;

/**
 * The part of the transaction service that needs the block store. Answers ABCI queries of its methods, in either
 * namespace; undefined for any other path.
 */
export function answerTxService(engine: EmbeddedEngine, query: AppQuery): AppQueryResult | undefined {
  const path = toNamespace(query.path, "sdk");
  if (path !== GET_TX && path !== GET_TXS_EVENT) return undefined;
  const base = {
    codespace: "",
    log: "",
    info: "",
    key: NOTHING,
    value: NOTHING,
    proofOps: [],
    height: engine.blocks.height,
  };
  const namespace = namespaceOf(query.path);
  try {
    const value = path === GET_TX ? getTx(engine, query.data, namespace) : getTxsEvent(engine, query.data, namespace);
    return { ...base, code: 0, value };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { ...base, ...queryFailure(error) };
  }
}

function getTx(engine: EmbeddedEngine, data: Uint8Array, namespace: Namespace): Uint8Array {
  const { hash } = decodeMessage(GetTxRequestSchema, data, sdkErrors.invalidRequest);
  if (!/^[0-9a-fA-F]{64}$/.test(hash)) throw sdkErrors.invalidRequest("a transaction hash has 64 hex digits");
  const found = engine.index.tx(fromHex(hash));
  if (found === undefined) throw sdkErrors.keyNotFound(`tx not found: ${hash.toUpperCase()}`);
  return encode(GetTxResponseSchema, {
    tx: decodeTxMessage(found.tx),
    txResponse: txResponse(engine, found, namespace),
  });
}

function getTxsEvent(engine: EmbeddedEngine, data: Uint8Array, namespace: Namespace): Uint8Array {
  const request = decodeMessage(GetTxsEventRequestSchema, data, sdkErrors.invalidRequest);
  const text = request.query === "" ? request.events.join(" AND ") : request.query;
  if (text === "") throw sdkErrors.invalidRequest("query cannot be empty");
  const { page, perPage } = pageOf(request);
  const descending = request.orderBy === OrderBy.DESC;
  const { total, found } = searchTxs(engine, { query: readQuery(text), page, perPage, descending });
  return encode(GetTxsEventResponseSchema, {
    txs: found.map(({ tx }) => decodeTxMessage(tx)),
    txResponses: found.map((tx) => txResponse(engine, tx, namespace)),
    pagination: { total: BigInt(total) },
    total: BigInt(total),
  });
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

/** The broadcast bytes are those of the message that holds the decoded parts. */
function decodeTxMessage(tx: Uint8Array): Tx {
  return decodeMessage(TxSchema, tx, sdkErrors.txDecode);
}

/** A committed transaction in the form of the era's results. */
function txResponse(engine: EmbeddedEngine, found: FoundTx, namespace: Namespace): TxResponse {
  const { hash, height, result, tx } = found;
  const time = engine.blocks.record(height)?.header.time ?? 0n;
  return create(TxResponseSchema, {
    height,
    txhash: toHexUpper(hash),
    codespace: result.codespace,
    code: result.code,
    data: toHexUpper(result.data),
    rawLog: result.log,
    logs: result.code === 0 ? readLogs(result.log) : [],
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

function encode<D extends DescMessage>(schema: D, message: MessageInitShape<D>): Uint8Array {
  return encodeMessage(schema, create(schema, message));
}
