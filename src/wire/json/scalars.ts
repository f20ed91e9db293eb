import type { DescEnum, DescField } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { formatDec, fromBase64, fromUtf8, toBase64, toUtf8, tryParseDec } from "../../util/index.ts";
import { Scalar, scalarOf } from "../options.ts";
import { JsonList } from "./list.ts";
import type { JsonValue } from "./value.ts";

/** Digits of a scaled decimal or an integer in the one spelling that survives a round trip. */
const CANONICAL_DIGITS = /^-?(?:0|[1-9]\d{0,95})$/;
/** Marks text that does not have the form of its field; no parser takes it for a number. */
const MALFORMED = "malformed:";

const INTEGER_RANGES: ReadonlyMap<ScalarType, readonly [bigint, bigint]> = new Map([
  [ScalarType.INT32, [-(1n << 31n), (1n << 31n) - 1n]],
  [ScalarType.UINT32, [0n, (1n << 32n) - 1n]],
  [ScalarType.FIXED32, [0n, (1n << 32n) - 1n]],
  [ScalarType.INT64, [-(1n << 63n), (1n << 63n) - 1n]],
  [ScalarType.SFIXED64, [-(1n << 63n), (1n << 63n) - 1n]],
  [ScalarType.UINT64, [0n, (1n << 64n) - 1n]],
  [ScalarType.FIXED64, [0n, (1n << 64n) - 1n]],
]);

/** A scalar value as JSON: 64-bit numbers as text, bytes as base64, decimals with 18 places. */
export function printScalar(field: DescField, value: unknown): JsonValue {
  if (value instanceof Uint8Array) return printBytes(field, value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return printText(field, value);
  return value as JsonValue;
}

function printBytes(field: DescField, value: Uint8Array): JsonValue {
  const scalar = scalarOf(field);
  if (scalar !== Scalar.INT_BYTES && scalar !== Scalar.DEC_BYTES)
    return value.length === 0 && field.fieldKind !== "list" ? null : toBase64(value);
  const text = value.length === 0 ? "0" : latin(value);
  const shown = scalar === Scalar.DEC_BYTES ? decOf(text) : CANONICAL_DIGITS.test(text) ? text : undefined;
  return shown ?? MALFORMED + toBase64(value);
}

function printText(field: DescField, value: string): string {
  const scalar = scalarOf(field);
  if (scalar === Scalar.INT) return value === "" ? "0" : value;
  if (scalar !== Scalar.DEC) return value;
  return decOf(value === "" ? "0" : value) ?? MALFORMED + value;
}

/** The decimal of its digits times 10^18; undefined for anything but a canonical number. */
function decOf(digits: string): string | undefined {
  return CANONICAL_DIGITS.test(digits) && digits !== "-0" ? formatDec(BigInt(digits)) : undefined;
}

export function printEnum(type: DescEnum, value: unknown): JsonValue {
  const number = Number(value);
  return type.value[number]?.name ?? number;
}

/** Returned by a parser instead of throwing, because its caller knows the place. */
export class Refusal {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** The value of a scalar field, or why the JSON is not a valid one. */
export function parseScalar(field: DescField, type: ScalarType, json: JsonValue): unknown {
  const range = INTEGER_RANGES.get(type);
  if (range !== undefined) return parseInteger(type, range, json);
  if (type === ScalarType.BOOL) return typeof json === "boolean" ? json : new Refusal("true or false was expected");
  if (typeof json !== "string") return new Refusal(`a string was expected, not ${kindOf(json)}`);
  return type === ScalarType.BYTES ? parseBytes(field, json) : parseText(field, json);
}

function parseInteger(type: ScalarType, [low, high]: readonly [bigint, bigint], json: JsonValue): unknown {
  const digits = typeof json === "number" && Number.isSafeInteger(json) ? json.toString() : json;
  if (typeof digits !== "string" || !/^-?(?:0|[1-9]\d{0,19})$/.test(digits)) {
    return new Refusal(`an integer was expected, not ${show(json)}`);
  }
  const value = BigInt(digits);
  if (value < low || value > high) return new Refusal(`${digits} is not between ${low} and ${high}`);
  const wide = type === ScalarType.INT64 || type === ScalarType.UINT64;
  return wide || type === ScalarType.FIXED64 || type === ScalarType.SFIXED64 ? value : Number(value);
}

function parseText(field: DescField, text: string): unknown {
  return scalarOf(field) === Scalar.DEC ? parseDecDigits(text) : text;
}

/** The digits of a decimal times 10^18. */
function parseDecDigits(text: string): string | Refusal {
  const value = tryParseDec(text);
  return value === undefined ? new Refusal(`${show(text)} is not a number with at most 18 decimals`) : value.toString();
}

function parseBytes(field: DescField, text: string): unknown {
  if (scalarOf(field) === Scalar.DEC_BYTES) {
    const digits = parseDecDigits(text);
    return typeof digits === "string" ? toUtf8(digits) : digits;
  }
  if (scalarOf(field) === Scalar.INT_BYTES) {
    return CANONICAL_DIGITS.test(text) ? toUtf8(text) : new Refusal(`${show(text)} is not an integer`);
  }
  return tryBase64(text) ?? new Refusal("base64 with padding was expected");
}

/** The bytes of base64 with padding; undefined for any other text. */
export function tryBase64(text: string): Uint8Array | undefined {
  try {
    const bytes = new Uint8Array(fromBase64(text));
    return toBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

export function parseEnum(type: DescEnum, json: JsonValue): unknown {
  const found = type.values.find((value) => value.name === json || value.number === json);
  if (found !== undefined) return found.number;
  const names = type.values.map((value) => value.name).join(", ");
  return new Refusal(`unknown value ${show(json)} for enum ${type.typeName}, allowed: ${names}`);
}

export function show(json: JsonValue): string {
  return (JSON.stringify(json) ?? "nothing").slice(0, 64);
}

export function kindOf(json: JsonValue): string {
  if (json === null) return "null";
  return Array.isArray(json) || json instanceof JsonList
    ? "a list"
    : typeof json === "object"
      ? "an object"
      : `a ${typeof json}`;
}

function latin(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes);
  } catch {
    return "";
  }
}
