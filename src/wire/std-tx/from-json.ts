import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { AnySchema, DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { fromBase64, SvcError, sdkErrors } from "../../util/index.ts";
import { type Fee, FeeSchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import {
  formatDuration,
  fromJson,
  fromNanos,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  printJson,
  readJson,
  toJson,
} from "../json/index.ts";
import {
  multisigPublicKey,
  type PublicKey,
  publicKeyToAny,
  type SinglePublicKey,
  secp256k1PublicKey,
} from "../keys/index.ts";
import { typeUrlOf } from "../namespace.ts";
import { aminoFieldName, aminoName, aminoOneofName, olderAminoName } from "../options.ts";
import { allMessages } from "../registry.ts";
import { type AminoNames, ED25519_NAME, MULTISIG_NAME, SECP256K1_NAME } from "../tx/amino.ts";
import { encodeStdParts, STD_TX_NAME, type StdParts } from "./binary.ts";
import { readStdTx } from "./read.ts";

const MAX_DEPTH = 16;
const ED25519_BYTES = 32;
const UINT64 = /^\d{1,20}$/;

/**
 * The binary of a transaction of the era before protobuf from its amino JSON, `{"type": "cosmos-sdk/StdTx", "value":
 * {...}}`. Throws `sdkErrors.jsonUnmarshal` for text that is not such a transaction.
 */
export function stdTxFromJson(text: string): Uint8Array {
  const names: { used: AminoNames } = { used: "current" };
  const parts = readParts(contentOf(readJson(text), STD_TX_NAME), names);
  return encodeStdParts(parts, names.used);
}

/** The amino JSON of such a binary, as chains of the ecosystem print it. Throws `sdkErrors.txDecode`. */
export function stdTxToJson(bytes: Uint8Array): string {
  const transaction = readStdTx(bytes, "current");
  const { signatures } = transaction;
  const signed = isArray(signatures) && signatures.length > 0 ? signatures : null;
  return printJson({ type: STD_TX_NAME, value: { ...transaction, signatures: signed } });
}

type Names = { used: AminoNames };

function readParts(value: JsonValue, names: Names): StdParts {
  const { msg = [], fee, signatures = [], memo = "", timeout_height: height = "0", ...others } = objectOf(value);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) fail(`unknown field ${JSON.stringify(unknown.slice(0, 64))}`);
  if (typeof memo !== "string") fail("the memo is not a string");
  const messages = listOf(msg);
  if (messages.length === 0) fail("there are no messages");
  return {
    messages: messages.map((each) => readMessage(each, { names, depth: 0 })),
    fee: readFee(fee),
    signatures: listOf(signatures).map(readSignature),
    memo,
    timeoutHeight: readNumber(height),
  };
}

interface Place {
  readonly names: Names;
  readonly depth: number;
}

function readMessage(json: JsonValue, place: Place) {
  const { type, value } = typed(json);
  const schema = schemaOf(type, place.names);
  return { schema, value: fromJson(schema, protoJson(schema, value, place)) };
}

function readFee(json: JsonValue | undefined): Fee | undefined {
  if (json === undefined || json === null) return undefined;
  const { gas = "0", amount, ...rest } = objectOf(json);
  return fromJson(FeeSchema, { ...rest, amount: amount ?? [], gas_limit: `${readNumber(gas)}` });
}

function readSignature(json: JsonValue) {
  const { pub_key: key = null, signature, ...others } = objectOf(json);
  if (Object.keys(others).length > 0) fail("a signature has a pub_key and a signature");
  return { publicKey: key === null ? undefined : readKey(key), signature: base64Of(signature ?? "") };
}

function readKey(json: JsonValue): PublicKey {
  const { type, value } = typed(json);
  if (type !== MULTISIG_NAME) return readSingle(type, value);
  const { threshold, pubkeys } = objectOf(value);
  const keys = listOf(pubkeys ?? []).map((each) => {
    const inner = typed(each);
    return readSingle(inner.type, inner.value);
  });
  return multisigPublicKey(Number(readNumber(threshold ?? "0")), keys);
}

function readSingle(type: string, value: JsonValue): SinglePublicKey {
  if (type === SECP256K1_NAME) return secp256k1PublicKey(base64Of(value));
  const key = type === ED25519_NAME ? base64Of(value) : undefined;
  if (key?.length === ED25519_BYTES) return { type: "ed25519", key };
  return fail(`${JSON.stringify(type.slice(0, 64))} is not a type of key, or the length of the key is wrong`);
}

/** Converts amino JSON to protobuf JSON: field names, durations, and contents of an `Any` differ. */
function protoJson(schema: DescMessage, json: JsonValue, place: Place): JsonValue {
  if (place.depth > MAX_DEPTH) fail("values are nested too deeply");
  if (schema.typeName === TimestampSchema.typeName) return json;
  if (schema.typeName === DurationSchema.typeName) return durationOf(json);
  if (schema.typeName === AnySchema.typeName) return anyOf(json, place);
  const fields: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(objectOf(json))) {
    const { field, content } = memberOf(schema, key, value);
    fields[field.name] = content === null ? null : fieldJson(field, content, place);
  }
  return fields;
}

/** The field of a key; a oneof is under its own name, with the type of the chosen member. */
function memberOf(schema: DescMessage, key: string, value: JsonValue): { field: DescField; content: JsonValue } {
  const plain = schema.fields.find((each) => aminoOneofName(each) === "" && aminoFieldName(each) === key);
  if (plain !== undefined) return { field: plain, content: value };
  const members = schema.fields.filter((each) => aminoOneofName(each) !== "" && pascalCase(each) === key);
  const [first] = members;
  if (first === undefined) fail(`unknown field ${JSON.stringify(key.slice(0, 64))} in ${schema.typeName}`);
  if (value === null) return { field: first, content: null };
  const chosen = typed(value);
  const field = members.find((each) => aminoOneofName(each) === chosen.type);
  if (field === undefined) fail(`unknown type ${JSON.stringify(chosen.type.slice(0, 64))} in ${schema.typeName}`);
  return { field, content: objectOf(chosen.value)[aminoFieldName(field)] ?? null };
}

function pascalCase({ oneof }: DescField): string {
  return (oneof?.name ?? "").replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function fieldJson({ message }: DescField, json: JsonValue, { names, depth }: Place): JsonValue {
  const inner = { names, depth: depth + 1 };
  if (message === undefined) return json;
  return isArray(json) ? json.map((each) => protoJson(message, each, inner)) : protoJson(message, json, inner);
}

function anyOf(json: JsonValue, place: Place): JsonValue {
  const { type, value } = typed(json);
  if ([SECP256K1_NAME, ED25519_NAME, MULTISIG_NAME].includes(type))
    return toJson(AnySchema, publicKeyToAny(readKey(json)), { exact: true });
  const schema = schemaOf(type, place.names);
  return { "@type": typeUrlOf(schema), ...objectOf(protoJson(schema, value, { ...place, depth: place.depth + 1 })) };
}

function durationOf(json: JsonValue): JsonValue {
  const nanos = typeof json === "number" ? `${json}` : json;
  if (typeof nanos !== "string" || !/^-?\d{1,19}$/.test(nanos)) return fail("a duration is a number of nanoseconds");
  return formatDuration(fromNanos(BigInt(nanos)));
}

let known: ReadonlyMap<string, DescMessage> | undefined;

/** The message of a name of either generation; an older one is noted. */
function schemaOf(type: string, names: Names): DescMessage {
  known ??= new Map(
    allMessages().flatMap((schema) =>
      [olderAminoName(schema), aminoName(schema)].flatMap((name = "") =>
        name === "" ? [] : [[name, schema] as const],
      ),
    ),
  );
  const schema = known.get(type);
  if (schema === undefined) return fail(`unknown type ${JSON.stringify(type.slice(0, 64))}`);
  if (olderAminoName(schema) === type) names.used = "older";
  return schema;
}

function typed(json: JsonValue): { readonly type: string; readonly value: JsonValue } {
  const { type, value = null, ...others } = objectOf(json);
  if (typeof type !== "string" || Object.keys(others).length > 0) return fail("an object has a type and a value");
  return { type, value };
}

function contentOf(json: JsonValue, name: string): JsonValue {
  const { type, value } = typed(json);
  return type === name ? value : fail(`the type is not ${name}`);
}

function objectOf(json: JsonValue): JsonObject {
  return isObject(json) ? json : fail("an object was expected");
}

function listOf(json: JsonValue): readonly JsonValue[] {
  if (json === null) return [];
  return isArray(json) ? json : fail("a list was expected");
}

function readNumber(json: JsonValue): bigint {
  const text = typeof json === "number" ? `${json}` : json;
  if (typeof text !== "string" || !UINT64.test(text) || BigInt(text) >= 2n ** 64n) return fail("a number was expected");
  return BigInt(text);
}

function base64Of(json: JsonValue): Uint8Array {
  if (typeof json !== "string") return fail("base64 was expected");
  try {
    return fromBase64(json);
  } catch (error) {
    return fail(error instanceof SvcError ? error.message : "base64 was expected");
  }
}

function fail(text: string): never {
  throw sdkErrors.jsonUnmarshal(`StdTx in amino JSON: ${text}`);
}
