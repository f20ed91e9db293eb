import type { CommittedTx } from "../../client/index.ts";
import { TxBodySchema, TxRawSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeMessage } from "../../wire/index.ts";

/** A transaction as lists show it. */
export interface TxRow {
  readonly hash: string;
  readonly height: bigint;
  /** The first message's type, and the number of further ones. */
  readonly action: string;
  /** Undefined where the result is not known. */
  readonly code: number | undefined;
}

export function txRow({ hash, height, bytes, code }: Pick<CommittedTx, "hash" | "height" | "bytes" | "code">): TxRow {
  return { hash, height, action: actionOf(bytes), code };
}

/** `MsgSend`, or `MsgSend + 2`; needs no descriptor of the message. */
export function actionOf(bytes: Uint8Array): string {
  try {
    const { messages } = decodeMessage(TxBodySchema, decodeMessage(TxRawSchema, bytes).bodyBytes);
    const [first] = messages;
    if (first === undefined) return "";
    return shortType(first.typeUrl) + (messages.length > 1 ? ` + ${messages.length - 1}` : "");
  } catch {
    return "";
  }
}

/** `MsgSend` of `/sdk.bank.v1beta1.MsgSend`. */
export function shortType(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf(".") + 1);
}
