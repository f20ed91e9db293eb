import { create } from "@bufbuild/protobuf";
import { type Tx, TxSchema } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeTxParts, printJson, toJson } from "../../../wire/index.ts";

/** The signed parts of a transaction in the bytes that are signed. */
export interface TxParts {
  readonly bodyBytes: Uint8Array;
  readonly authInfoBytes: Uint8Array;
}

/** A transaction as one line of JSON, decoded from the bytes that are signed and sent. */
export function txJson(parts: TxParts, signatures: readonly Uint8Array[] = []): string {
  const { body, authInfo } = decodeTxParts(parts.bodyBytes, parts.authInfoBytes, { foreign: true });
  return printTx(create(TxSchema, { body, authInfo, signatures: [...signatures] }));
}

export function printTx(tx: Tx): string {
  return printJson(toJson(TxSchema, tx, { exact: true }));
}
