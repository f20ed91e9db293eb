import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { errorText, formatDec, parseCoin, parseDecCoin, tryParseInt } from "../../util/index.ts";
import {
  decodeAddress,
  type JsonObject,
  type JsonValue,
  parseBidId,
  parseCertificateId,
  parseDeploymentId,
  parseGroupId,
  parseLeaseId,
  parseOrderId,
  Scalar,
  scalarOf,
  toJson,
} from "../../wire/index.ts";
import { usageError } from "../errors.ts";
import { ID_KINDS } from "./fields.ts";

const LIMITS: ReadonlyMap<ScalarType, bigint> = new Map([
  [ScalarType.UINT32, (1n << 32n) - 1n],
  [ScalarType.UINT64, (1n << 64n) - 1n],
  [ScalarType.INT64, (1n << 63n) - 1n],
]);

/** Where a text comes from. */
export interface Source {
  /** What the user knows it by. */
  readonly name: string;
  /** Bech32 prefix of the network that addresses are of. */
  readonly prefix: string;
}

/** The text of an argument or flag as the JSON of a field. */
export function readValue(field: DescField, text: string, { name, prefix }: Source): JsonValue {
  try {
    if (field.message !== undefined) return readMessage(field.message, text);
    if (field.enum !== undefined) return text;
    if (field.scalar === ScalarType.STRING) return readText(field, text, prefix);
    if (field.scalar !== undefined) return readNumber(field.scalar, text);
  } catch (error) {
    throw usageError(`${name}: ${errorText(error)}`);
  }
  throw usageError(`${name} cannot be given on the command line`);
}

function readText(field: DescField, text: string, prefix: string): string {
  const scalar = scalarOf(field);
  if (scalar === Scalar.ADDRESS) decodeAddress(text, "account", prefix);
  if (scalar === Scalar.VALIDATOR_ADDRESS) decodeAddress(text, "valoper", prefix);
  return text;
}

function readNumber(type: ScalarType, text: string): string {
  const max = LIMITS.get(type) ?? 0n;
  const value = tryParseInt(text);
  if (value === undefined || value < 0n || value > max) {
    throw new Error(`"${text.slice(0, 64)}" is no whole number from 0 to ${max}`);
  }
  return text;
}

function readMessage(schema: DescMessage, text: string): JsonObject {
  switch (schema.typeName) {
    case "sdk.base.v1beta1.Coin": {
      const { denom, amount } = parseCoin(text);
      return { denom, amount: amount.toString() };
    }
    case "sdk.base.v1beta1.DecCoin": {
      const { denom, amount } = parseDecCoin(text);
      return { denom, amount: formatDec(amount) };
    }
    default:
      return readId(schema, text);
  }
}

const ID_PARSERS: Readonly<Record<string, (text: string) => Parameters<typeof toJson>[1]>> = {
  deployment: parseDeploymentId,
  group: parseGroupId,
  order: parseOrderId,
  bid: parseBidId,
  lease: parseLeaseId,
  certificate: parseCertificateId,
};

/** An id in its text form, for example `order/<owner>/<dseq>/<gseq>/<oseq>`, as JSON. */
export function readId(schema: DescMessage, text: string): JsonObject {
  const parse = ID_PARSERS[ID_KINDS.get(schema.typeName) ?? ""];
  if (parse === undefined) throw new Error(`a ${schema.typeName} cannot be read from text`);
  return toJson(schema, parse(text)) as JsonObject;
}

/** Sets a value inside nested objects, which are made where they are missing. */
export function setPath(target: Record<string, JsonValue>, path: readonly string[], value: JsonValue): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = { ...(target[name] as JsonObject | undefined) };
  setPath(inner, rest, value);
  target[name] = inner;
}
