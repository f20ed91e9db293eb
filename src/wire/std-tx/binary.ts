import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import { isMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema, DurationSchema } from "@bufbuild/protobuf/wkt";
import { sha256 } from "../../crypto/index.ts";
import { concatBytes, sdkErrors } from "../../util/index.ts";
import type { Unpacked } from "../any.ts";
import { fieldValue } from "../field-value.ts";
import type { Fee } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { toNanos } from "../json/index.ts";
import { encodeAminoPublicKey, type PublicKey, publicKeyFromAny } from "../keys/index.ts";
import { aminoName, olderAminoName } from "../options.ts";
import { unpackAny } from "../registry.ts";
import { type AminoNames, isKeyType } from "../tx/amino.ts";
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
export function encodeStdTx({ messages, authInfo, raw, body }: DecodedTx): Uint8Array {
  const signatures = authInfo.signerInfos.map((info, i) => ({
    publicKey: info.publicKey && publicKeyFromAny(info.publicKey),
    signature: stdSignatureBytes(info, raw.signatures[i] ?? new Uint8Array()),
  }));
  const { memo, timeoutHeight } = body;
  return encodeStdParts({ messages, fee: authInfo.fee, signatures, memo, timeoutHeight }, "older");
}

/** Parts of a transaction of the era before protobuf. */
export interface StdParts {
  readonly messages: readonly Pick<Unpacked, "schema" | "value">[];
  readonly fee: Fee | undefined;
  readonly signatures: readonly { readonly publicKey: PublicKey | undefined; readonly signature: Uint8Array }[];
  readonly memo: string;
  readonly timeoutHeight: bigint;
}

/** The same from its parts, under today's message names or those before release 0.46 of the ecosystem. */
export function encodeStdParts(parts: StdParts, names: AminoNames): Uint8Array {
  const writer = new BinaryWriter();
  for (const message of parts.messages) bytesField(writer, 1, encodeConcrete(message, names));
  const fee = encodeFee(parts.fee);
  if (fee.length > 0) bytesField(writer, 2, fee);
  for (const { publicKey, signature } of parts.signatures) {
    const entry = new BinaryWriter();
    if (publicKey !== undefined) bytesField(entry, 1, encodeAminoPublicKey(publicKey));
    bytesField(entry, 2, signature);
    bytesField(writer, 3, entry.finish());
  }
  if (parts.memo !== "") writer.tag(4, WireType.LengthDelimited).string(parts.memo);
  if (parts.timeoutHeight !== 0n) writer.tag(5, WireType.Varint).uint64(parts.timeoutHeight);
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
function encodeConcrete({ schema, value }: Pick<Unpacked, "schema" | "value">, names: AminoNames): Uint8Array {
  const name = (names === "older" ? olderAminoName(schema) : undefined) ?? aminoName(schema) ?? "";
  if (name === "") throw sdkErrors.invalidType(`${schema.typeName} has no amino name`);
  return concatBytes(aminoPrefix(name), encodeStruct(schema, value, names));
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
function encodeStruct(schema: DescMessage, message: MessageShape<DescMessage>, names: AminoNames): Uint8Array {
  const writer = new BinaryWriter();
  const fields = [...schema.fields].sort((a, b) => a.number - b.number);
  for (const field of fields) writeField(writer, field, { value: fieldValue(field, message), names });
  return writer.finish();
}

interface Named {
  readonly value: unknown;
  readonly names: AminoNames;
}

function writeField(writer: BinaryWriter, field: DescField, { value, names }: Named): void {
  if (field.fieldKind === "list") {
    writeList(writer, field, { value, names });
    return;
  }
  const bytes = lengthDelimited(field, value, names);
  if (bytes === undefined) {
    const number = varint(value);
    if (number !== 0n) writer.tag(field.number, WireType.Varint).int64(number);
  } else if (bytes.length > 0) bytesField(writer, field.number, bytes);
}

function writeList(writer: BinaryWriter, field: DescField, { value, names }: Named): void {
  const packed = new BinaryWriter();
  for (const item of Array.isArray(value) ? value : []) {
    const bytes = lengthDelimited(field, item, names);
    if (bytes === undefined) packed.int64(varint(item));
    else bytesField(writer, field.number, bytes);
  }
  const numbers = packed.finish();
  if (numbers.length > 0) bytesField(writer, field.number, numbers);
}

/** The content of a field with a length in front; undefined for a number. */
function lengthDelimited(field: DescField, value: unknown, names: AminoNames): Uint8Array | undefined {
  if (field.message !== undefined)
    return embedded(field.message, value as MessageShape<DescMessage> | undefined, names);
  if (field.scalar === ScalarType.STRING) return new TextEncoder().encode(typeof value === "string" ? value : "");
  if (field.scalar !== ScalarType.BYTES) return undefined;
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function embedded(
  schema: DescMessage,
  message: MessageShape<DescMessage> | undefined,
  names: AminoNames,
): Uint8Array | undefined {
  if (schema.typeName === DurationSchema.typeName) return undefined;
  if (message === undefined) return new Uint8Array();
  if (!isMessage(message, AnySchema)) return encodeStruct(schema, message, names);
  const content = unpackAny(message);
  return isKeyType(content.schema) ? encodeAminoPublicKey(publicKeyFromAny(message)) : encodeConcrete(content, names);
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
