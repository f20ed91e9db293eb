import { create, type DescField, type DescMessage, isMessage, type MessageShape } from "@bufbuild/protobuf";
import { AnySchema, DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { toBase64 } from "../../util/index.ts";
import { type Any, unpackAny } from "../any.ts";
import { type Namespace, toNamespace } from "../namespace.ts";
import { findTypeUrl } from "../registry.ts";
import { printEnum, printScalar } from "./scalars.ts";
import { isObject, type JsonObject, type JsonValue } from "./text.ts";
import { formatDuration, formatProtoTimestamp } from "./time.ts";

/** How messages are written as JSON. */
export interface JsonOptions {
  /** Spelling of type URLs in the answer; left as they are by default. */
  readonly namespace?: Namespace;
  /** Leaves missing sub-messages out instead of printing them empty: what is read back then has the same bytes. */
  readonly omitAbsent?: boolean;
}

/** Sub-messages of these packages and types may be missing, which prints as null; all others print with empty fields. */
const NULLABLE = [
  "google.protobuf.Any",
  "google.protobuf.Timestamp",
  "sdk.tx.",
  "sdk.crypto.",
  "sdk.base.query.",
  "sdk.base.abci.",
  "sdk.gov.v1.",
  "sdk.feegrant.v1beta1.Grant",
];
/** In messages of these packages no sub-message has to be there, of whatever type it is. */
const NULLABLE_PARENTS = ["sdk.gov.v1."];
/** Text fields that hold a type URL. */
const TYPE_URL_FIELDS = new Set(["type_url", "msg_type_url"]);

/**
 * Proto JSON as the ecosystem prints it: names of the proto file in its order, defaults present, 64-bit numbers as text,
 * enum names, `Any` as an object with `@type` first.
 */
export function toJson<D extends DescMessage>(
  schema: D,
  message: MessageShape<D>,
  options: JsonOptions = {},
): JsonValue {
  if (isMessage(message, AnySchema)) return printAny(message, options);
  if (isMessage(message, TimestampSchema)) return formatProtoTimestamp(message);
  if (isMessage(message, DurationSchema)) return formatDuration(message);
  const fields = message as Readonly<Record<string, unknown>>;
  const json: Record<string, JsonValue> = {};
  for (const field of schema.fields) {
    const value = printField(field, fields, options);
    if (value !== undefined) json[field.name] = value;
  }
  return json;
}

function printField(
  field: DescField,
  message: Readonly<Record<string, unknown>>,
  options: JsonOptions,
): JsonValue | undefined {
  if (field.oneof !== undefined) {
    const chosen = message[field.oneof.localName] as { case?: string; value?: unknown } | undefined;
    return chosen?.case === field.localName ? printValue(field, chosen.value, options) : undefined;
  }
  const value = message[field.localName];
  if (field.fieldKind === "list") {
    return ((value ?? []) as readonly unknown[]).map((item) => printValue(field, item, options));
  }
  if (value === undefined) return printAbsent(field, options);
  return printValue(field, value, options);
}

function printValue(field: DescField, value: unknown, options: JsonOptions): JsonValue {
  if (field.message !== undefined) return toJson(field.message, value as MessageShape<DescMessage>, options);
  if (field.enum !== undefined) return printEnum(field.enum, value);
  if (typeof value === "string" && options.namespace !== undefined && TYPE_URL_FIELDS.has(field.name)) {
    return toNamespace(value, options.namespace);
  }
  return printScalar(field, value);
}

function printAbsent(field: DescField, options: JsonOptions): JsonValue | undefined {
  const schema = field.message;
  if (schema === undefined || NULLABLE.some((prefix) => schema.typeName.startsWith(prefix))) return null;
  if (NULLABLE_PARENTS.some((prefix) => field.parent.typeName.startsWith(prefix))) return null;
  return options.omitAbsent === true ? undefined : toJson(schema, create(schema), options);
}

/** Contents that cannot be read are shown as base64, so that a transaction of another chain can be looked at. */
function printAny(any: Any, options: JsonOptions): JsonObject {
  const typeUrl = options.namespace === undefined ? any.typeUrl : toNamespace(any.typeUrl, options.namespace);
  const content = findTypeUrl(any.typeUrl) === undefined ? undefined : contentOf(any, options);
  if (content === undefined) return { "@type": typeUrl, value: toBase64(any.value) };
  return isObject(content) ? { "@type": typeUrl, ...content } : { "@type": typeUrl, value: content };
}

function contentOf(any: Any, options: JsonOptions): JsonValue | undefined {
  try {
    const { schema, value } = unpackAny(any);
    return toJson(schema, value, options);
  } catch {
    return undefined;
  }
}
