import { type DescField, type DescMessage, isMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { type Any, AnySchema, DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { fromBase64, sdkErrors, toBase64, toUtf8 } from "../../util/index.ts";
import type { Unpacked } from "../any.ts";
import { fieldValue } from "../field-value.ts";
import type { Fee } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import {
  formatTimestamp,
  fromJson,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  printJson,
  sortJson,
  toNanos,
} from "../json/index.ts";
import { printScalar } from "../json/scalars.ts";
import {
  multisigPublicKey,
  type PublicKey,
  publicKeyFromAny,
  type SinglePublicKey,
  secp256k1PublicKey,
} from "../keys/index.ts";
import {
  aminoEmptyIsNull,
  aminoFieldName,
  aminoKeepsEmpty,
  aminoName,
  aminoOneofName,
  olderAminoName,
} from "../options.ts";
import { unpackAny } from "../registry.ts";
import type { DecodedTx } from "./strict.ts";

export const SECP256K1_NAME = "tendermint/PubKeySecp256k1";
export const ED25519_NAME = "tendermint/PubKeyEd25519";
export const MULTISIG_NAME = "tendermint/PubKeyMultisigThreshold";
const KEY_NAMES = [SECP256K1_NAME, ED25519_NAME, MULTISIG_NAME];

/** Set of message names in amino JSON: today's, or those before release 0.46 of the ecosystem. */
export type AminoNames = "current" | "older";

/** Data that a signature covers besides the transaction itself. */
export interface SignerData {
  readonly chainId: string;
  readonly accountNumber: bigint;
  readonly sequence: bigint;
  /** Default `current`. */
  readonly aminoNames?: AminoNames;
}

/** The parts of a transaction that an amino JSON signature covers. */
export type AminoSignable = Pick<DecodedTx, "body" | "authInfo" | "messages" | "opaque" | "hasUnknownFields">;

/**
 * Sign bytes of `SIGN_MODE_LEGACY_AMINO_JSON`: one line of JSON with all keys in order, always built anew from the
 * decoded transaction. Throws `sdkErrors.invalidRequest` if amino JSON cannot show everything that is signed.
 */
export function aminoSignBytes(tx: AminoSignable, signer: SignerData): Uint8Array {
  if (tx.hasUnknownFields) throw sdkErrors.invalidRequest("amino JSON cannot sign unknown fields of the transaction");
  if (tx.body.extensionOptions.length + tx.body.nonCriticalExtensionOptions.length > 0) {
    throw sdkErrors.invalidRequest("SIGN_MODE_LEGACY_AMINO_JSON does not support protobuf extension options");
  }
  const [opaque] = tx.opaque;
  if (opaque !== undefined) {
    throw sdkErrors.invalidRequest(`amino JSON cannot sign a message of type ${opaque}, whose content is not known`, {
      hint: "sign it with --sign-mode direct; members of a multisig cannot sign it",
    });
  }
  const doc: JsonObject = {
    account_number: signer.accountNumber.toString(),
    chain_id: signer.chainId,
    fee: aminoFee(tx.authInfo.fee),
    memo: tx.body.memo,
    msgs: tx.messages.map((message) => aminoMessage(message, signer.aminoNames)),
    sequence: signer.sequence.toString(),
    ...(tx.body.timeoutHeight === 0n ? {} : { timeout_height: tx.body.timeoutHeight.toString() }),
    ...(tx.body.timeoutTimestamp === undefined ? {} : { timeout_timestamp: formatTimestamp(tx.body.timeoutTimestamp) }),
    ...(tx.body.unordered ? { unordered: true } : {}),
  };
  return toUtf8(printJson(sortJson(doc)));
}

/** `{"type": <amino name>, "value": {...}}`, the value in the order of the proto file. */
export function aminoMessage(
  { schema, value }: Pick<Unpacked, "schema" | "value">,
  names: AminoNames = "current",
): JsonObject {
  const type = (names === "older" ? olderAminoName(schema) : undefined) ?? aminoName(schema);
  if (type === undefined) throw sdkErrors.invalidType(`${schema.typeName} has no amino name`);
  if (type === "") return aminoFields(schema, value, names);
  return { type, value: aminoJson(schema, value, names) };
}

/**
 * Whether a message may have another text under older names. True for any message with an `Any`, whose contents are not
 * read yet.
 */
export function hasOtherAminoName({ schema }: Pick<Unpacked, "schema">): boolean {
  const known = withOtherNames.get(schema) ?? mayHoldOlderName(schema, new Set());
  withOtherNames.set(schema, known);
  return known;
}

const withOtherNames = new WeakMap<DescMessage, boolean>();

function mayHoldOlderName(schema: DescMessage, seen: Set<DescMessage>): boolean {
  if (schema.typeName === AnySchema.typeName || olderAminoName(schema) !== undefined) return true;
  if (seen.has(schema)) return false;
  seen.add(schema);
  return schema.fields.some(({ message }) => message !== undefined && mayHoldOlderName(message, seen));
}

/** The amino JSON of a public key: `{"type":"tendermint/PubKeySecp256k1","value":"..."}`. */
export function aminoPublicKey(publicKey: PublicKey): JsonObject {
  if (publicKey.type === "multisig") {
    const value = { threshold: String(publicKey.threshold), pubkeys: publicKey.keys.map(aminoPublicKey) };
    return { type: MULTISIG_NAME, value };
  }
  return { type: publicKey.type === "secp256k1" ? SECP256K1_NAME : ED25519_NAME, value: toBase64(publicKey.key) };
}

export function aminoFee(fee: Fee | undefined): JsonObject {
  return {
    amount: (fee?.amount ?? []).map(({ denom, amount }) => ({ denom, amount })),
    gas: (fee?.gasLimit ?? 0n).toString(),
    ...(fee === undefined || fee.payer === "" ? {} : { payer: fee.payer }),
    ...(fee === undefined || fee.granter === "" ? {} : { granter: fee.granter }),
  };
}

function aminoJson(schema: DescMessage, message: MessageShape<DescMessage>, names: AminoNames): JsonValue {
  if (isMessage(message, TimestampSchema)) return formatTimestamp(message);
  if (isMessage(message, DurationSchema)) return toNanos(message).toString();
  if (isMessage(message, AnySchema)) return aminoAny(message, names);
  return aminoFields(schema, message, names);
}

function aminoFields(schema: DescMessage, message: MessageShape<DescMessage>, names: AminoNames): JsonObject {
  const json: Record<string, JsonValue> = {};
  for (const field of schema.fields) {
    const value = fieldValue(field, message);
    if (aminoOneofName(field) !== "") addOneof(json, field, { value, names });
    else if (!isOmitted(field, value)) json[aminoFieldName(field)] = aminoField(field, value, names);
  }
  return json;
}

interface Member {
  readonly value: unknown;
  readonly names: AminoNames;
}

/** A oneof is its own field with the type of the chosen member; null while none is chosen. */
function addOneof(json: Record<string, JsonValue>, field: DescField, { value, names }: Member): void {
  const { name = "" } = field.oneof ?? {};
  const key = name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  json[key] ??= null;
  if (value === undefined) return;
  json[key] = { type: aminoOneofName(field), value: { [aminoFieldName(field)]: aminoField(field, value, names) } };
}

function isOmitted(field: DescField, value: unknown): boolean {
  if (value === undefined) return true;
  if (field.fieldKind === "message" || aminoKeepsEmpty(field) || aminoEmptyIsNull(field)) return false;
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length === 0;
  return value === "" || value === 0 || value === 0n || value === false;
}

function aminoField(field: DescField, value: unknown, names: AminoNames): JsonValue {
  if (field.fieldKind === "list") return aminoList(field, Array.isArray(value) ? value : [], names);
  return aminoValue(field, value, names);
}

function aminoList(field: DescField, items: readonly unknown[], names: AminoNames): JsonValue {
  if (items.length === 0 && aminoEmptyIsNull(field)) return null;
  return items.map((item) => aminoValue(field, item, names));
}

function aminoValue(field: DescField, value: unknown, names: AminoNames): JsonValue {
  if (field.message !== undefined) return aminoJson(field.message, value as MessageShape<DescMessage>, names);
  if (field.enum !== undefined) return Number(value);
  if (field.scalar === ScalarType.BYTES && value instanceof Uint8Array && value.length === 0) return "";
  return printScalar(field, value);
}

function aminoAny(any: Any, names: AminoNames): JsonValue {
  const content = unpackAny(any);
  return isKeyType(content.schema) ? aminoPublicKey(publicKeyFromAny(any)) : aminoMessage(content, names);
}

/** Whether a message is a public key, which amino writes in its own form. */
export function isKeyType(schema: DescMessage): boolean {
  return KEY_NAMES.includes(aminoName(schema) ?? "");
}

/**
 * A public key in one of its two JSON forms: proto (`@type`, `key`) or amino (`type`, `value`). Throws
 * `sdkErrors.invalidPubKey`.
 */
export function publicKeyFromJson(json: JsonValue): PublicKey {
  if (isObject(json) && json["@type"] !== undefined) return publicKeyFromAny(fromJson(AnySchema, json));
  if (!isObject(json) || !isObject(json.value)) return singleFromAmino(json);
  const { threshold, pubkeys } = json.value;
  if (json.type !== MULTISIG_NAME || !isArray(pubkeys)) throw unknownForm();
  return multisigPublicKey(Number(threshold), pubkeys.map(singleFromAmino));
}

function singleFromAmino(json: JsonValue): SinglePublicKey {
  if (!isObject(json) || typeof json.value !== "string") throw unknownForm();
  const key = fromBase64(json.value);
  if (json.type === SECP256K1_NAME) return secp256k1PublicKey(key);
  if (json.type !== ED25519_NAME) throw unknownForm();
  if (key.length !== 32) throw sdkErrors.invalidPubKey(`ed25519 key of ${key.length} bytes`);
  return { type: "ed25519", key };
}

function unknownForm(): Error {
  return sdkErrors.invalidPubKey("it is not the JSON of a known type of public key");
}
