import { create } from "@bufbuild/protobuf";
import { isRecord, toHexUpper } from "../../util/index.ts";
import {
  type ABCIMessageLog,
  ABCIMessageLogSchema,
  type TxResponse,
  TxResponseSchema,
} from "../../wire/gen/sdk/base/abci/v1beta1/abci_pb.js";
import { makeAny, type Namespace, toNamespace } from "../../wire/index.ts";
import type { BroadcastResult, CommittedTx } from "../chain/node.ts";

export type { TxResponse };
export { TxResponseSchema };

/** The result of broadcasting a transaction: its execution is still unknown. */
export function broadcastResponse(result: BroadcastResult): TxResponse {
  return create(TxResponseSchema, {
    txhash: result.hash,
    code: result.code,
    codespace: result.codespace,
    data: toHexUpper(result.data),
    rawLog: result.log,
    logs: result.code === 0 ? parseLogs(result.log) : [],
  });
}

/** The result of a committed transaction, as printed at the end of `--broadcast-mode block`. */
export function committedResponse(tx: CommittedTx): TxResponse {
  return create(TxResponseSchema, {
    height: tx.height,
    txhash: tx.hash,
    code: tx.code,
    codespace: tx.codespace,
    data: toHexUpper(tx.data),
    rawLog: tx.log,
    logs: tx.code === 0 ? parseLogs(tx.log) : [],
    info: tx.info,
    gasWanted: tx.gasWanted,
    gasUsed: tx.gasUsed,
    events: tx.events.map(({ type, attributes }) => ({ type, attributes: [...attributes] })),
  });
}

/** The same with the transaction itself and its block's time, as printed by `query tx`. */
export function queriedResponse(tx: CommittedTx, timestamp: string, namespace: Namespace = "sdk"): TxResponse {
  const response = committedResponse(tx);
  // The broadcast bytes equal the bytes of the message with the decoded parts.
  response.tx = makeAny(toNamespace("/sdk.tx.v1beta1.Tx", namespace), tx.bytes);
  response.timestamp = timestamp;
  return response;
}

/** The logs of the era's results: JSON in the log text. Newer chains leave it empty, which means no logs. */
export function parseLogs(log: string): ABCIMessageLog[] {
  if (!log.startsWith("[")) return [];
  try {
    const entries: unknown = JSON.parse(log);
    return Array.isArray(entries) ? entries.filter(isRecord).map(toLog) : [];
  } catch {
    return [];
  }
}

function toLog(entry: Readonly<Record<string, unknown>>): ABCIMessageLog {
  return create(ABCIMessageLogSchema, {
    msgIndex: Number(entry.msg_index ?? 0),
    log: String(entry.log ?? ""),
    events: records(entry.events).map((event) => ({
      type: String(event.type ?? ""),
      attributes: records(event.attributes).map(({ key, value }) => ({
        key: String(key ?? ""),
        value: String(value ?? ""),
      })),
    })),
  });
}

function records(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
