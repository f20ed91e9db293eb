import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { equalBytes, toBase64 } from "../../util/index.ts";
import type { Any } from "../any.ts";
import { encodeMessage } from "../codec/index.ts";
import { toNamespace } from "../namespace.ts";
import { findTypeUrl, unpackAny } from "../registry.ts";
import { fromJson } from "./parse.ts";
import { type JsonOptions, printMessage } from "./print.ts";
import { isObject } from "./text.ts";
import type { JsonObject, JsonValue } from "./value.ts";

/** Proto JSON of any message as the ecosystem prints it; an `Any` is an object with `@type` first. */
export function toJson<D extends DescMessage>(
  schema: D,
  message: MessageShape<D>,
  options: JsonOptions = {},
): JsonValue {
  return printMessage(schema, message, { ...options, any: (any) => printAny(any, options) });
}

/** Contents that cannot be read are shown as base64, so that a transaction of another chain can be read. */
function printAny(any: Any, options: JsonOptions): JsonObject {
  const typeUrl = options.namespace === undefined ? any.typeUrl : toNamespace(any.typeUrl, options.namespace);
  const content = findTypeUrl(any.typeUrl) === undefined ? undefined : contentOf(any, options);
  if (content === undefined) return { "@type": typeUrl, value: toBase64(any.value) };
  return isObject(content) ? { "@type": typeUrl, ...content } : { "@type": typeUrl, value: content };
}

function contentOf(any: Any, options: JsonOptions): JsonValue | undefined {
  try {
    const { schema, value } = unpackAny(any);
    const json = toJson(schema, value, options);
    return options.exact === true && !isWhole(schema, json, any.value) ? undefined : json;
  } catch {
    return undefined;
  }
}

/** Whether the JSON holds everything that the bytes hold. */
function isWhole(schema: DescMessage, json: JsonValue, bytes: Uint8Array): boolean {
  return equalBytes(encodeMessage(schema, fromJson(schema, json, { opaque: true })), bytes);
}
