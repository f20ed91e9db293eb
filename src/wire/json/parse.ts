import { create, type DescField, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { AnySchema, DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { errorText, sdkErrors } from "../../util/index.ts";
import { makeAny, type Unpacked } from "../any.ts";
import { emptyMessage, encodeMessage } from "../codec/index.ts";
import { findTypeUrl, unresolved } from "../registry.ts";
import { JsonList } from "./list.ts";
import { kindOf, parseEnum, parseScalar, Refusal, tryBase64 } from "./scalars.ts";
import { isArray, isObject } from "./text.ts";
import { parseDuration, parseTimestamp } from "./time.ts";
import type { JsonObject, JsonValue } from "./value.ts";

const MAX_ANY_DEPTH = 10;

/** How JSON is read. */
export interface ParseOptions {
  /** Takes contents of an `Any` as base64 under `value`, for a type that is not known or that JSON cannot hold whole. */
  readonly opaque?: boolean;
  /** Where the message is in a larger one, for errors: the item of a list, `["balances", 3]`. */
  readonly at?: readonly [field: string, index: number];
}

/**
 * The message of proto JSON: names of the proto file or in camel case, 64-bit numbers as text or as safe numbers, null
 * for absent. Type URLs stay as they were written. Throws `sdkErrors.jsonUnmarshal` naming the place, for an unknown
 * field as well.
 */
export function fromJson<D extends DescMessage>(schema: D, json: JsonValue, options?: ParseOptions): MessageShape<D>;
export function fromJson(schema: DescMessage, json: JsonValue, options: ParseOptions = {}): unknown {
  return parseMessage(schema, json, beginning(options));
}

/** The message of the JSON of an `Any`, with its type: what `fromJson` of an `Any` would pack. */
export function fromJsonAny(json: JsonValue, options: ParseOptions = {}): Omit<Unpacked, "carried"> {
  return parseContent(json, beginning(options));
}

function beginning({ opaque = false, at }: ParseOptions): Place {
  const whole = { outer: undefined, step: "", anyDepth: 0, opaque };
  return at === undefined ? whole : within(within(whole, at[0]), at[1]);
}

/** The position of the parser. Its path is built only when something is wrong there. */
interface Place {
  readonly outer: Place | undefined;
  /** A field of the place around it, or an item of its list. */
  readonly step: string | number;
  readonly anyDepth: number;
  readonly opaque: boolean;
}

function within(outer: Place, step: string | number): Place {
  return { outer, step, anyDepth: outer.anyDepth, opaque: outer.opaque };
}

/** `messages[0].amount`; empty for the whole. */
function pathOf({ outer, step }: Place): string {
  if (outer === undefined) return "";
  const before = pathOf(outer);
  if (typeof step === "number") return `${before}[${step}]`;
  return before === "" ? step : `${before}.${step}`;
}

type Fields = Record<string, unknown>;

function parseMessage(schema: DescMessage, json: JsonValue, place: Place): unknown {
  if (schema.typeName === AnySchema.typeName) return parseAny(json, place);
  if (schema.typeName === TimestampSchema.typeName) return parseWith(TimestampSchema, parseTimestamp, json, place);
  if (schema.typeName === DurationSchema.typeName) return parseWith(DurationSchema, parseDuration, json, place);
  if (!isObject(json)) fail(place, `an object was expected, not ${kindOf(json)}`);
  const message: Fields = emptyMessage(schema);
  const seen: string[] = [];
  for (const [key, value] of Object.entries(json)) {
    const field = fieldNames(schema).get(key);
    if (field === undefined && value === null && isReserved(schema, key)) continue;
    if (field === undefined) fail(place, `unknown field ${JSON.stringify(key.slice(0, 64))} in ${schema.typeName}`);
    const slot = field.oneof?.name ?? field.name;
    if (value === null) continue;
    const inner = within(place, key);
    if (seen.includes(slot)) fail(inner, `the field ${slot} is given twice`);
    seen.push(slot);
    setField(message, field, parseField(field, value, inner));
  }
  return message;
}

/** Whether other chains have the field; null says that it is not set. */
function isReserved({ proto }: DescMessage, key: string): boolean {
  return proto.reservedName.includes(key);
}

function setField(message: Fields, field: DescField, value: unknown): void {
  if (field.oneof === undefined) message[field.localName] = value;
  else message[field.oneof.localName] = { case: field.localName, value };
}

function parseField(field: DescField, json: JsonValue, place: Place): unknown {
  if (field.fieldKind !== "list") return parseValue(field, json, place);
  if (json instanceof JsonList) return parseField(field, [...json], place);
  if (!isArray(json)) fail(place, `a list was expected, not ${kindOf(json)}`);
  return json.map((item, i) => parseValue(field, item, within(place, i)));
}

function parseValue(field: DescField, json: JsonValue, place: Place): unknown {
  if (field.message !== undefined) return parseMessage(field.message, json, place);
  if (field.enum !== undefined) return accepted(parseEnum(field.enum, json), place);
  if (field.scalar !== undefined) return accepted(parseScalar(field, field.scalar, json), place);
  return fail(place, "maps are not supported");
}

function parseAny(json: JsonValue, place: Place): unknown {
  const opaque = place.opaque && place.anyDepth < MAX_ANY_DEPTH ? opaqueAny(json) : undefined;
  if (opaque !== undefined) return opaque;
  const { typeUrl, schema, value } = parseContent(json, place);
  try {
    return makeAny(typeUrl, encodeMessage(schema, value));
  } catch (cause) {
    return fail(place, errorText(cause));
  }
}

/** An `Any` whose contents are written as base64. */
function opaqueAny(json: JsonValue): unknown {
  if (!isObject(json)) return undefined;
  const { "@type": typeUrl, ...rest } = json;
  if (typeof typeUrl !== "string" || takesValue(findTypeUrl(typeUrl))) return undefined;
  const bytes = bytesOf(rest);
  return bytes === undefined ? undefined : makeAny(typeUrl, bytes);
}

function parseContent(json: JsonValue, place: Place): Omit<Unpacked, "carried"> {
  if (!isObject(json)) fail(place, `an object with "@type" was expected, not ${kindOf(json)}`);
  const { "@type": typeUrl, ...rest } = json;
  if (typeof typeUrl !== "string") fail(place, 'the field "@type" is missing');
  if (place.anyDepth >= MAX_ANY_DEPTH) fail(place, "messages are nested too deeply");
  const schema = findTypeUrl(typeUrl);
  if (schema === undefined) fail(place, unresolved(typeUrl));
  const content = isSpecial(schema) ? onlyValue(rest, place) : rest;
  const message = parseMessage(schema, content, { ...place, anyDepth: place.anyDepth + 1 });
  return { typeUrl, schema, value: message as MessageShape<DescMessage> };
}

/** Types whose JSON is not an object of their fields; inside an `Any` it is under `value`. */
function isSpecial(schema: DescMessage): boolean {
  return schema.file.proto.package === "google.protobuf";
}

/** Whether `value` means something else in the JSON of a type. */
function takesValue(schema: DescMessage | undefined): boolean {
  return (
    schema !== undefined &&
    (isSpecial(schema) || schema.fields.some(({ name, scalar }) => name === "value" && scalar !== undefined))
  );
}

/** The bytes of an object that holds nothing but base64 under `value`. */
function bytesOf(rest: JsonObject): Uint8Array | undefined {
  const { value, ...others } = rest;
  if (typeof value !== "string" || Object.keys(others).length > 0) return undefined;
  return tryBase64(value);
}

function onlyValue(rest: JsonObject, place: Place): JsonValue {
  const { value = null, ...others } = rest;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) fail(place, `unknown field ${JSON.stringify(unknown)}`);
  return value;
}

function parseWith<D extends DescMessage>(
  schema: D,
  parse: (text: string) => object | undefined,
  json: JsonValue,
  place: Place,
): unknown {
  const parts = typeof json === "string" ? parse(json) : undefined;
  if (parts === undefined) {
    const example = schema.typeName === TimestampSchema.typeName ? "2026-01-31T12:00:00Z" : "3600s";
    fail(place, `write it as ${JSON.stringify(example)}`);
  }
  return Object.assign(create(schema), parts);
}

const names = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

function fieldNames(schema: DescMessage): ReadonlyMap<string, DescField> {
  let table = names.get(schema);
  if (table === undefined) {
    table = new Map(
      schema.fields.flatMap((field) => [
        [field.jsonName, field],
        [field.name, field],
      ]),
    );
    names.set(schema, table);
  }
  return table;
}

function accepted(value: unknown, place: Place): unknown {
  return value instanceof Refusal ? fail(place, value.why) : value;
}

function fail(place: Place, why: string): never {
  const path = pathOf(place);
  throw sdkErrors.jsonUnmarshal(path === "" ? why : `${path}: ${why}`);
}
