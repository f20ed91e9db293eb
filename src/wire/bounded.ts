import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { sdkErrors } from "../util/index.ts";
import { decodeMessage } from "./codec/index.ts";
import { type JsonValue, MAX_JSON_DEPTH, readJson } from "./json/index.ts";

/**
 * Decoders for untrusted input. JSON and protobuf can make far more objects than they have bytes, so each decoder here
 * checks the structure of a text or message before it creates any object.
 */

/** Bytes of a request that carries no transaction, in any encoding. */
export const MAX_REQUEST_BYTES = 64 * 1024;
/** Bytes of a request that carries a transaction: the largest one in base64, with room for more beside it. */
export const MAX_TX_REQUEST_BYTES = 2 * 1024 * 1024;
/** Values of a JSON text, or fields of a message; reading so many takes some 20 ms. */
export const MAX_REQUEST_VALUES = 32_768;

/** Fields that hold a transaction, in the requests of the transaction service. */
const TX_FIELDS: ReadonlySet<string> = new Set(["tx", "tx_bytes", "amino_binary", "amino_json"]);

/** Largest request of this form, in bytes. */
export function maxRequestBytes({ fields }: DescMessage): number {
  return fields.some(({ name }) => TX_FIELDS.has(name)) ? MAX_TX_REQUEST_BYTES : MAX_REQUEST_BYTES;
}

/** Reads the message of a request as `decodeMessage` does. Throws `sdkErrors.invalidRequest`, also beyond the limits. */
export function decodeBounded<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  const most = maxRequestBytes(schema);
  if (bytes.length > most) throw sdkErrors.invalidRequest(`the request is larger than ${most} bytes`);
  let left = MAX_REQUEST_VALUES;
  const onField = (): void => {
    if (left === 0) throw sdkErrors.invalidRequest(`the request has more than ${MAX_REQUEST_VALUES} fields`);
    left -= 1;
  };
  return decodeMessage(schema, bytes, sdkErrors.invalidRequest, { onField });
}

/** Reads JSON as `readJson` does. Throws `sdkErrors.jsonUnmarshal`, also for too many values. */
export function readBoundedJson(text: string): JsonValue {
  const refusal = jsonRefusal(text);
  if (refusal !== undefined) throw sdkErrors.jsonUnmarshal(refusal);
  return readJson(text);
}

/** The sentence that refuses a text before it is parsed; undefined if parsing it is quick. The text may still be no JSON. */
export function jsonRefusal(text: string): string | undefined {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values += 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values += 1;
      depth += 1;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_JSON_DEPTH) return `the JSON has more than ${MAX_JSON_DEPTH} values in one another`;
    if (values > MAX_REQUEST_VALUES) return `the JSON has more than ${MAX_REQUEST_VALUES} values`;
  }
  return undefined;
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The place of the quotation mark that ends a string; the end of the text if none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
