import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema, DurationSchema } from "@bufbuild/protobuf/wkt";
import { equalBytes, errorText, SvcError, sdkErrors, toBase64, toHex } from "../../util/index.ts";
import { makeAny, type Unpacked } from "../any.ts";
import { decodeMessage, encodeMessage } from "../codec/index.ts";
import { type Fee, FeeSchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { fromNanos, type JsonObject } from "../json/index.ts";
import { decodeAminoPublicKey, publicKeyToAny } from "../keys/index.ts";
import { typeUrlOf } from "../namespace.ts";
import { aminoName, olderAminoName } from "../options.ts";
import { allMessages } from "../registry.ts";
import { type AminoNames, aminoFee, aminoMessage, aminoPublicKey } from "../tx/amino.ts";
import { fieldCounter } from "../tx/strict.ts";
import { aminoPrefix, STD_TX_NAME } from "./binary.ts";

/** A value within others. */
interface Place {
  readonly depth: number;
  /** Called for every field that is read; throws at one too many. */
  readonly onField: () => void;
}

const PREFIX_LENGTH = 4;
const MAX_DEPTH = 16;
/** Prefixes of public keys, which take the place of an `Any`. */
const KEY_PREFIXES = ["eb5ae987", "1624de64", "22c1f7e2"];

/** Errors of the chain that are passed on unchanged. */
const KEPT: ReadonlySet<number> = new Set([sdkErrors.txDecode.code, sdkErrors.txTooLarge.code]);

/** Whether bytes begin like a transaction of the era before protobuf. */
export function isStdTx(bytes: Uint8Array): boolean {
  return equalBytes(bytes.subarray(0, PREFIX_LENGTH), aminoPrefix(STD_TX_NAME));
}

/**
 * The JSON of a transaction in the binary encoding of the era before protobuf: `msg`, `fee`, `signatures`, `memo`,
 * `timeout_height`, with the names of messages that are asked for. Throws `sdkErrors.txDecode`.
 */
export function readStdTx(bytes: Uint8Array, names: AminoNames = "older"): JsonObject {
  if (!isStdTx(bytes)) throw sdkErrors.txDecode("not a StdTx in legacy amino");
  try {
    return readParts(bytes.subarray(PREFIX_LENGTH), names);
  } catch (error) {
    if (error instanceof SvcError && KEPT.has(error.code)) throw error;
    throw sdkErrors.txDecode(`malformed StdTx in legacy amino: ${errorText(error)}`, { cause: error });
  }
}

function readParts(bytes: Uint8Array, names: AminoNames): JsonObject {
  const reader = new BinaryReader(bytes);
  const msg: JsonObject[] = [];
  const signatures: JsonObject[] = [];
  let fee: Fee | undefined;
  let [memo, timeoutHeight] = ["", 0n];
  const whole: Place = { depth: 0, onField: fieldCounter() };
  while (reader.pos < reader.len) {
    whole.onField();
    const [number] = reader.tag();
    if (number === 1) msg.push(aminoMessage(readConcrete(reader.bytes(), whole), names));
    else if (number === 2) fee = readFee(reader.bytes(), whole);
    else if (number === 3) signatures.push(readSignature(reader.bytes()));
    else if (number === 4) memo = reader.string();
    else if (number === 5) timeoutHeight = BigInt(reader.uint64());
    else throw sdkErrors.txDecode(`unknown field ${number} of a StdTx`);
  }
  if (msg.length === 0) throw sdkErrors.txDecode("the StdTx in legacy amino has no messages");
  return { msg, fee: aminoFee(fee), signatures, memo, timeout_height: timeoutHeight.toString() };
}

/** Field numbers of the fee equal protobuf's except for gas, payer and granter. */
function readFee(bytes: Uint8Array, whole: Place): Fee {
  const schema = FeeSchema;
  return decodeMessage(schema, toProto(schema, bytes, whole), sdkErrors.txDecode);
}

function readSignature(bytes: Uint8Array): JsonObject {
  const reader = new BinaryReader(bytes);
  let [key, signature] = [new Uint8Array(), new Uint8Array()];
  while (reader.pos < reader.len) {
    const [number] = reader.tag();
    if (number === 1) key = Uint8Array.from(reader.bytes());
    else if (number === 2) signature = Uint8Array.from(reader.bytes());
    else throw sdkErrors.txDecode(`unknown field ${number} of a signature`);
  }
  const pubKey = key.length === 0 ? null : aminoPublicKey(decodeAminoPublicKey(key));
  return { pub_key: pubKey, signature: toBase64(signature) };
}

/** A value whose type is given by its prefix. */
function readConcrete(bytes: Uint8Array, place: Place): Unpacked {
  const prefix = toHex(bytes.subarray(0, PREFIX_LENGTH));
  const schema = schemas().get(prefix);
  if (schema === undefined) throw sdkErrors.txDecode(`unknown type ${prefix} in legacy amino`);
  const value = decodeMessage(schema, toProto(schema, bytes.subarray(PREFIX_LENGTH), place), sdkErrors.txDecode);
  return { typeUrl: typeUrlOf(schema), schema, value };
}

let known: ReadonlyMap<string, DescMessage> | undefined;

/** Messages by the prefix of their amino name, the older one included. */
function schemas(): ReadonlyMap<string, DescMessage> {
  known ??= new Map(
    allMessages().flatMap((type) => {
      const names = [aminoName(type), olderAminoName(type)]
        .filter((name) => name !== undefined)
        .filter((name) => name !== "");
      return names.map((name) => [toHex(aminoPrefix(name)), type] as const);
    }),
  );
  return known;
}

/** The protobuf form of a struct: numbers and kinds of fields are the same, except for an `Any` and a duration. */
function toProto(schema: DescMessage, bytes: Uint8Array, place: Place): Uint8Array {
  if (place.depth > MAX_DEPTH) throw sdkErrors.txDecode("values are nested too deeply");
  const reader = new BinaryReader(bytes);
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    place.onField();
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    const field = schema.fields.find((each) => each.number === number);
    if (field === undefined) throw sdkErrors.txDecode(`unknown field ${number} of ${schema.typeName}`);
    if (field.message === undefined) {
      reader.skip(wireType, number);
      writer.raw(bytes.subarray(start, reader.pos));
      continue;
    }
    writer.tag(number, WireType.LengthDelimited).bytes(embedded(field, reader, place));
  }
  return writer.finish();
}

function embedded(field: DescField, reader: BinaryReader, place: Place): Uint8Array {
  const schema = field.message;
  if (schema?.typeName === DurationSchema.typeName) {
    const { seconds, nanos } = fromNanos(BigInt(reader.int64()));
    return encodeMessage(DurationSchema, { $typeName: DurationSchema.typeName, seconds, nanos });
  }
  const bytes = reader.bytes();
  const inner = { ...place, depth: place.depth + 1 };
  if (schema === undefined) return bytes;
  if (schema.typeName !== AnySchema.typeName) return toProto(schema, bytes, inner);
  return encodeMessage(AnySchema, anyOf(bytes, inner));
}

function anyOf(bytes: Uint8Array, place: Place) {
  if (KEY_PREFIXES.includes(toHex(bytes.subarray(0, PREFIX_LENGTH))))
    return publicKeyToAny(decodeAminoPublicKey(bytes));
  const { typeUrl, schema, value } = readConcrete(bytes, place);
  return makeAny(typeUrl, encodeMessage(schema, value));
}
