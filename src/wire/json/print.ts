import { create, type DescField, type DescMessage, isMessage, type MessageShape } from "@bufbuild/protobuf";
import { AnySchema, DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { Any } from "../any.ts";
import { fieldValue } from "../field-value.ts";
import { type Namespace, toNamespace } from "../namespace.ts";
import { isNeverNull, jsonOmitsEmpty, Scalar, scalarOf } from "../options.ts";
import { printEnum, printScalar } from "./scalars.ts";
import { formatDuration, formatProtoTimestamp } from "./time.ts";
import type { JsonValue } from "./value.ts";

/** How messages are written as JSON. */
export interface JsonOptions {
  /** Spelling of type URLs in the answer; unchanged by default. */
  readonly namespace?: Namespace;
  /**
   * Shows set fields only, so that reading the JSON back gives the same bytes: empty or zero defaults are left out, and
   * contents of an `Any` that JSON cannot represent exactly stay base64.
   */
  readonly exact?: boolean;
}

/** How an `Any` is written. */
interface Printing extends JsonOptions {
  readonly any: (any: Any) => JsonValue;
}

/** The ecosystem's text for a missing time. */
const ZERO_TIME = "0001-01-01T00:00:00Z";
/** How numbers of any size are kept: as text, or as the bytes of a text. */
const NUMBERS = new Set([Scalar.INT, Scalar.DEC, Scalar.INT_BYTES, Scalar.DEC_BYTES]);
/** Text fields that hold a type URL. */
const TYPE_URL_FIELDS = new Set(["type_url", "msg_type_url"]);

/** The JSON of a message that holds no `Any`, as `toJson` writes it; needs no list of all messages. */
export function toPlainJson<D extends DescMessage>(schema: D, message: MessageShape<D>): JsonValue {
  return printMessage(schema, message, {
    any: ({ typeUrl }) => {
      throw new Error(`${schema.typeName} holds ${typeUrl}: print it with toJson`);
    },
  });
}

/**
 * Proto JSON as the ecosystem prints it: names of the proto file in its order, defaults present, 64-bit numbers as text,
 * enum names, `Any` as an object with `@type` first.
 */
export function printMessage<D extends DescMessage>(schema: D, message: MessageShape<D>, options: Printing): JsonValue {
  if (isMessage(message, AnySchema)) return options.any(message);
  if (isMessage(message, TimestampSchema)) return formatProtoTimestamp(message);
  if (isMessage(message, DurationSchema)) return formatDuration(message);
  const json: Record<string, JsonValue> = {};
  for (const field of schema.fields) {
    const value = printField(field, message, options);
    if (value !== undefined) json[field.name] = value;
  }
  return json;
}

function printField(field: DescField, message: MessageShape<DescMessage>, options: Printing): JsonValue | undefined {
  const value = fieldValue(field, message);
  if (field.oneof !== undefined) return value === undefined ? undefined : printValue(field, value, options);
  if (field.fieldKind === "list") {
    return Array.isArray(value) ? value.map((item) => printValue(field, item, options)) : [];
  }
  if (jsonOmitsEmpty(field) && (value === undefined || value === false || value === 0n)) return undefined;
  if (value === undefined) return printAbsent(field, options);
  if (options.exact === true && isMissingNumber(field, value)) return undefined;
  return printValue(field, value, options);
}

function printValue(field: DescField, value: unknown, options: Printing): JsonValue {
  if (field.message !== undefined) return printMessage(field.message, value as MessageShape<DescMessage>, options);
  if (field.enum !== undefined) return printEnum(field.enum, value);
  if (typeof value === "string" && options.namespace !== undefined && TYPE_URL_FIELDS.has(field.name)) {
    return toNamespace(value, options.namespace);
  }
  return printScalar(field, value);
}

function printAbsent(field: DescField, options: Printing): JsonValue | undefined {
  const schema = field.message;
  if (schema === undefined || !isNeverNull(field)) return null;
  if (options.exact === true) return undefined;
  return schema.typeName === TimestampSchema.typeName ? ZERO_TIME : printMessage(schema, create(schema), options);
}

/** Texts and bytes of numbers that are empty, which show as zero. */
function isMissingNumber(field: DescField, value: unknown): boolean {
  if (value !== "" && !(value instanceof Uint8Array && value.length === 0)) return false;
  return NUMBERS.has(scalarOf(field));
}
