import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import { isMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema, DurationSchema } from "@bufbuild/protobuf/wkt";
import { sha256 } from "../../crypto/index.ts";
import { concatBytes, sdkErrors } from "../../util/index.ts";
import { type Unpacked, unpackAny } from "../any.ts";
import type { Fee } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { toNanos } from "../json/index.ts";
import { encodeAminoPublicKey, publicKeyFromAny } from "../keys/index.ts";
import { aminoName, olderAminoName } from "../options.ts";
import { isKeyType } from "../tx/amino.ts";
import type { DecodedTx } from "../tx/strict.ts";
import { stdSignatureBytes } from "./std-tx.ts";

/** The registered name of a transaction. */
export const STD_TX_NAME = "cosmos-sdk/StdTx";
const DISAMBIGUATION_LENGTH = 3;
const PREFIX_LENGTH = 4;

/**
 * A transaction in the binary encoding of the era before protobuf: `StdTx` with its type prefix. Throws
 * `sdkErrors.invalidRequest` for a signature that is not of mode amino-json, `sdkErrors.invalidType` for a message
 * without an amino name.
 */
export function encodeStdTx(tx: DecodedTx): Uint8Array {
  const writer = new BinaryWriter();
  for (const message of tx.messages) bytesField(writer, 1, encodeConcrete(message));
  const fee = encodeFee(tx.authInfo.fee);
  if (fee.length > 0) bytesField(writer, 2, fee);
  tx.authInfo.signerInfos.forEach((info, i) => {
    const signature = new BinaryWriter();
    if (info.publicKey !== undefined) bytesField(signature, 1, encodeAminoPublicKey(publicKeyFromAny(info.publicKey)));
    bytesField(signature, 2, stdSignatureBytes(info, tx.raw.signatures[i] ?? new Uint8Array()));
    bytesField(writer, 3, signature.finish());
  });
  if (tx.body.memo !== "") writer.tag(4, WireType.LengthDelimited).string(tx.body.memo);
  if (tx.body.timeoutHeight !== 0n) writer.tag(5, WireType.Varint).uint64(tx.body.timeoutHeight);
  return concatBytes(aminoPrefix(STD_TX_NAME), writer.finish());
}

/** The bytes in front of a registered type: the fifth to eighth of its name's hash, zeros before each part left out. */
export function aminoPrefix(name: string): Uint8Array {
  const hash = withoutZeros(sha256(new TextEncoder().encode(name)));
  return withoutZeros(hash.subarray(DISAMBIGUATION_LENGTH)).subarray(0, PREFIX_LENGTH);
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(bytes.findIndex((byte) => byte !== 0));
}

/** A value whose type is given by its prefix. */
function encodeConcrete({ schema, value }: Pick<Unpacked, "schema" | "value">): Uint8Array {
  const name = olderAminoName(schema) ?? aminoName(schema) ?? "";
  if (name === "") throw sdkErrors.invalidType(`${schema.typeName} has no amino name`);
  return concatBytes(aminoPrefix(name), encodeStruct(schema, value));
}

function encodeFee(fee: Fee | undefined): Uint8Array {
  const writer = new BinaryWriter();
  for (const { denom, amount } of fee?.amount ?? []) {
    const coin = new BinaryWriter();
    if (denom !== "") coin.tag(1, WireType.LengthDelimited).string(denom);
    if (amount !== "") coin.tag(2, WireType.LengthDelimited).string(amount);
    bytesField(writer, 1, coin.finish());
  }
  if (fee !== undefined && fee.gasLimit !== 0n) writer.tag(2, WireType.Varint).uint64(fee.gasLimit);
  if (fee !== undefined && fee.payer !== "") writer.tag(3, WireType.LengthDelimited).string(fee.payer);
  if (fee !== undefined && fee.granter !== "") writer.tag(4, WireType.LengthDelimited).string(fee.granter);
  return writer.finish();
}

/**
 * Fields have the numbers and forms of protobuf; the differences are an `Any`, a duration, and that empty parts are
 * left out.
 */
function encodeStruct(schema: DescMessage, message: MessageShape<DescMessage>): Uint8Array {
  const writer = new BinaryWriter();
  const fields = [...schema.fields].sort((a, b) => a.number - b.number);
  for (const field of fields) writeField(writer, field, fieldValue(field, message));
  return writer.finish();
}

function fieldValue(field: DescField, message: MessageShape<DescMessage>): unknown {
  const values = message as Readonly<Record<string, unknown>>;
  if (field.oneof === undefined) return values[field.localName];
  const chosen = values[field.oneof.localName] as { case?: string; value?: unknown } | undefined;
  return chosen?.case === field.localName ? chosen.value : undefined;
}

function writeField(writer: BinaryWriter, field: DescField, value: unknown): void {
  if (field.fieldKind === "list") {
    writeList(writer, field, value as readonly unknown[]);
    return;
  }
  const bytes = lengthDelimited(field, value);
  if (bytes === undefined) {
    const number = varint(value);
    if (number !== 0n) writer.tag(field.number, WireType.Varint).int64(number);
  } else if (bytes.length > 0) bytesField(writer, field.number, bytes);
}

function writeList(writer: BinaryWriter, field: DescField, items: readonly unknown[]): void {
  const packed = new BinaryWriter();
  for (const item of items) {
    const bytes = lengthDelimited(field, item);
    if (bytes === undefined) packed.int64(varint(item));
    else bytesField(writer, field.number, bytes);
  }
  const numbers = packed.finish();
  if (numbers.length > 0) bytesField(writer, field.number, numbers);
}

/** The content of a field with a length in front; undefined for a number. */
function lengthDelimited(field: DescField, value: unknown): Uint8Array | undefined {
  if (field.message !== undefined) return embedded(field.message, value as MessageShape<DescMessage> | undefined);
  if (field.scalar === ScalarType.STRING) return new TextEncoder().encode(typeof value === "string" ? value : "");
  if (field.scalar !== ScalarType.BYTES) return undefined;
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function embedded(schema: DescMessage, message: MessageShape<DescMessage> | undefined): Uint8Array | undefined {
  if (schema.typeName === DurationSchema.typeName) return undefined;
  if (message === undefined) return new Uint8Array();
  if (!isMessage(message, AnySchema)) return encodeStruct(schema, message);
  const content = unpackAny(message);
  return isKeyType(content.schema) ? encodeAminoPublicKey(publicKeyFromAny(message)) : encodeConcrete(content);
}

/** Numbers as the 64 bits that are written; a duration is its nanoseconds. */
function varint(value: unknown): bigint {
  if (isMessage(value, DurationSchema)) return toNanos(value);
  if (typeof value === "boolean" || typeof value === "number") return BigInt(value);
  return typeof value === "bigint" ? BigInt.asIntN(64, value) : 0n;
}

function bytesField(writer: BinaryWriter, number: number, bytes: Uint8Array): void {
  writer.tag(number, WireType.LengthDelimited).bytes(bytes);
}
