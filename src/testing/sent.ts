import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { logOf, type TxResult } from "../abci/index.ts";
import { assert } from "../util/index.ts";
import { TxMsgDataSchema } from "../wire/gen/sdk/base/abci/v1beta1/abci_pb.js";
import { decodeMessage, unpackAs } from "../wire/index.ts";

/** Result of a sent transaction with its readable parts. */
export interface SentTx extends TxResult {
  readonly log: string;
  readonly height: bigint;
  /** Entries of the log: for each message its events, merged by type. */
  readonly logs: readonly { readonly events: readonly LoggedEvent[] }[];
  /** The response of the message at `index`, which must be of this type. */
  response<D extends DescMessage>(schema: D, index?: number): MessageShape<D>;
}

/** An event in the log of a transaction. */
export interface LoggedEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

export function sentTx(result: TxResult, height: bigint): SentTx {
  const log = logOf(result);
  const logs: SentTx["logs"] = result.code === 0 ? JSON.parse(log) : [];
  return {
    ...result,
    log,
    height,
    logs,
    response(schema, index = 0) {
      const { msgResponses } = decodeMessage(TxMsgDataSchema, result.data);
      const response = unpackAs(schema, msgResponses[index]);
      assert(response !== undefined, `message ${index} has no response ${schema.typeName}`);
      return response;
    },
  };
}
