import { create, type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { decodeMessage, encodeMessage } from "../codec/index.ts";
import {
  aminoFieldName,
  aminoKeepsEmpty,
  aminoName,
  isNeverNull,
  jsonOmitsEmpty,
  Scalar,
  scalarOf,
} from "../options.ts";
import { allMessages } from "../registry.ts";
import { aminoMessage } from "../tx/amino.ts";
import { fromJson, isObject, toJson } from "./index.ts";

/** How much of a message is present: all its fields, all but the sub-messages that may be missing, or nothing. */
type Extent = "full" | "required" | "bare";

const NUMBERS = new Map<ScalarType, unknown>([
  [ScalarType.BOOL, true],
  [ScalarType.STRING, "x"],
  [ScalarType.BYTES, new Uint8Array([1])],
]);
const WIDE = [ScalarType.INT64, ScalarType.UINT64, ScalarType.FIXED64, ScalarType.SFIXED64];
const DIGITS = new TextEncoder().encode("1");
const DEPTH = 3;

function scalarValue(field: DescField): unknown {
  const scalar = scalarOf(field);
  if (scalar === Scalar.INT || scalar === Scalar.DEC) return "1";
  if (scalar === Scalar.INT_BYTES || scalar === Scalar.DEC_BYTES) return DIGITS;
  const type = field.scalar ?? ScalarType.INT32;
  return NUMBERS.get(type) ?? (WIDE.includes(type) ? 1n : 1);
}

function build(schema: DescMessage, extent: Extent, depth = 0): MessageShape<DescMessage> {
  if (extent === "bare" || depth > DEPTH || schema.file.proto.package === "google.protobuf") return create(schema);
  const message = create(schema) as unknown as Record<string, unknown>;
  for (const field of schema.fields) {
    const value = fieldValue(field, extent, depth);
    if (value === undefined) continue;
    if (field.oneof === undefined) message[field.localName] = value;
    else message[field.oneof.localName] = { case: field.localName, value };
  }
  return message as unknown as MessageShape<DescMessage>;
}

function fieldValue(field: DescField, extent: Extent, depth: number): unknown {
  if (field.message === undefined) {
    const value = field.enum === undefined ? scalarValue(field) : field.enum.values.at(-1)?.number;
    return field.fieldKind === "list" ? [value] : value;
  }
  if (field.fieldKind === "list") return extent === "full" ? [build(field.message, extent, depth + 1)] : [];
  if (extent === "required" && !isNeverNull(field)) return undefined;
  return build(field.message, extent, depth + 1);
}

const messages = allMessages().filter((schema) => schema.file.proto.package !== "google.protobuf");
const CASES = messages.map((schema) => [schema.typeName, schema] as const);

describe("what a message lacks", () => {
  it.each(CASES)("%s goes through JSON without a changed byte", (_, schema) => {
    for (const extent of ["full", "required", "bare"] as const) {
      const bytes = encodeMessage(schema, build(schema, extent));
      const json = toJson(schema, decodeMessage(schema, bytes), { exact: true });
      expect(encodeMessage(schema, fromJson(schema, json, { opaque: true })), extent).toEqual(bytes);
    }
  });

  it.each(CASES)("%s shows null for a sub-message that may be missing, and every other one", (_, schema) => {
    const json = toJson(schema, build(schema, "required"));
    for (const field of schema.fields) {
      if (field.fieldKind !== "message" || field.oneof !== undefined || !isObject(json)) continue;
      if (jsonOmitsEmpty(field)) expect(Object.hasOwn(json, field.name)).toBe(false);
      else expect(json[field.name] === null, field.name).toBe(!isNeverNull(field));
    }
  });

  const named = CASES.filter(([, schema]) => aminoName(schema) !== undefined);
  it.each(named)("%s has in amino JSON the sub-messages that are there, and no other", (_, schema) => {
    const { value } = aminoMessage({ schema, value: build(schema, "required") });
    for (const field of schema.fields) {
      if (field.fieldKind !== "message" || field.oneof !== undefined || !isObject(value ?? null)) continue;
      if (aminoKeepsEmpty(field)) continue;
      const shown = isObject(value) && Object.hasOwn(value, aminoFieldName(field));
      expect(shown, field.name).toBe(isNeverNull(field));
    }
  });
});
