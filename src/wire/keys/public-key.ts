import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { accountAddress, consensusAddress, isCompressedForm, multisigAddress } from "../../crypto/index.ts";
import { BECH32_PREFIX, compareBytes, concatBytes, equalBytes, fromHex, sdkErrors } from "../../util/index.ts";
import { bech32Prefix, decodeBech32, encodeBech32, type PublicKeyKind } from "../address.ts";
import { type Any, packAny, unpackAs } from "../any.ts";
import { PubKeySchema as Ed25519Schema } from "../gen/sdk/crypto/ed25519/keys_pb.js";
import { LegacyAminoPubKeySchema } from "../gen/sdk/crypto/multisig/keys_pb.js";
import { PubKeySchema as Secp256k1Schema } from "../gen/sdk/crypto/secp256k1/keys_pb.js";
import type { Namespace } from "../namespace.ts";

/** A key of one signer: 33 bytes compressed (secp256k1) or 32 bytes (ed25519). */
export interface SinglePublicKey {
  readonly type: "secp256k1" | "ed25519";
  readonly key: Uint8Array;
}

/** A threshold of several secp256k1 keys; their order is part of the account's identity. */
export interface MultisigPublicKey {
  readonly type: "multisig";
  readonly threshold: number;
  readonly keys: readonly SinglePublicKey[];
}

/** The key of an account: of one signer, or a threshold of several. */
export type PublicKey = SinglePublicKey | MultisigPublicKey;

/** Amino type prefixes with the length byte of the key after them. */
const PREFIXES = { secp256k1: fromHex("eb5ae98721"), ed25519: fromHex("1624de6420") };
const MULTISIG_PREFIX = fromHex("22c1f7e2");
const LENGTHS = { secp256k1: 33, ed25519: 32 };
const MAX_MEMBERS = 64;

/** Throws one clear sentence unless the bytes have the form of a compressed secp256k1 key. */
export function secp256k1PublicKey(key: Uint8Array): SinglePublicKey {
  if (!isCompressedForm(key)) throw sdkErrors.invalidPubKey("not a compressed secp256k1 key of 33 bytes");
  return { type: "secp256k1", key };
}

/** A multisig key in the given order of members. Throws one clear sentence on a threshold that cannot be met. */
export function multisigPublicKey(threshold: number, keys: readonly SinglePublicKey[]): MultisigPublicKey {
  if (!Number.isInteger(threshold) || threshold <= 0)
    throw sdkErrors.invalidPubKey("threshold must be a positive integer");
  if (keys.length < threshold) {
    throw sdkErrors.invalidPubKey(`threshold k of n multisignature: ${keys.length} < ${threshold}`);
  }
  if (keys.length > MAX_MEMBERS) throw sdkErrors.invalidPubKey(`more than ${MAX_MEMBERS} keys in a multisignature`);
  return { type: "multisig", threshold, keys };
}

/** Members in the customary order, by the bytes of their addresses. */
export function sortByAddress(keys: readonly SinglePublicKey[]): SinglePublicKey[] {
  return [...keys].sort((a, b) => compareBytes(publicKeyAddress(a), publicKeyAddress(b)));
}

/** The 20-byte address of the account (or of the consensus key, for ed25519). */
export function publicKeyAddress(publicKey: PublicKey): Uint8Array {
  if (publicKey.type === "multisig") return multisigAddress(encodeAminoPublicKey(publicKey));
  return publicKey.type === "secp256k1" ? accountAddress(publicKey.key) : consensusAddress(publicKey.key);
}

/** The legacy amino bytes of a key: what bech32 key texts and addresses of multisigs are made of. */
export function encodeAminoPublicKey(publicKey: PublicKey): Uint8Array {
  if (publicKey.type !== "multisig") return concatBytes(PREFIXES[publicKey.type], publicKey.key);
  const writer = new BinaryWriter().uint32(fieldTag(1, WireType.Varint)).uint32(publicKey.threshold);
  for (const key of publicKey.keys)
    writer.uint32(fieldTag(2, WireType.LengthDelimited)).bytes(encodeAminoPublicKey(key));
  return concatBytes(MULTISIG_PREFIX, writer.finish());
}

/** Reads amino bytes; throws `sdkErrors.invalidPubKey` unless they are exactly one key. */
export function decodeAminoPublicKey(bytes: Uint8Array): PublicKey {
  if (equalBytes(bytes.subarray(0, MULTISIG_PREFIX.length), MULTISIG_PREFIX)) return decodeMultisig(bytes);
  return decodeSingle(bytes);
}

/** The key as bech32 text, for example `svcpub1addwnpep...`. */
export function encodePublicKey(
  publicKey: PublicKey,
  kind: PublicKeyKind = "accountPub",
  prefix: string = BECH32_PREFIX,
): string {
  return encodeBech32(encodeAminoPublicKey(publicKey), bech32Prefix(kind, prefix));
}

/**
 * The key of a bech32 text such as `svcpub1addwnpep...`. Throws `sdkErrors.invalidAddress` or
 * `sdkErrors.invalidPubKey`.
 */
export function decodePublicKey(
  text: string,
  kind: PublicKeyKind = "accountPub",
  prefix: string = BECH32_PREFIX,
): PublicKey {
  return decodeAminoPublicKey(decodeBech32(text, bech32Prefix(kind, prefix)));
}

function decodeSingle(bytes: Uint8Array): SinglePublicKey {
  for (const type of ["secp256k1", "ed25519"] as const) {
    const prefix = PREFIXES[type];
    if (!equalBytes(bytes.subarray(0, prefix.length), prefix)) continue;
    const key = bytes.subarray(prefix.length);
    if (key.length !== LENGTHS[type]) throw sdkErrors.invalidPubKey(`${type} key of ${key.length} bytes`);
    return type === "secp256k1" ? secp256k1PublicKey(key) : { type, key };
  }
  throw sdkErrors.invalidPubKey("amino bytes of no known key type");
}

function decodeMultisig(bytes: Uint8Array): MultisigPublicKey {
  let publicKey: MultisigPublicKey;
  try {
    publicKey = readMultisig(bytes.subarray(MULTISIG_PREFIX.length));
  } catch (cause) {
    throw sdkErrors.invalidPubKey("malformed multisignature key", { cause });
  }
  // Only one encoding is accepted, because the address is a hash of it.
  if (!equalBytes(encodeAminoPublicKey(publicKey), bytes))
    throw sdkErrors.invalidPubKey("malformed multisignature key");
  return publicKey;
}

function readMultisig(body: Uint8Array): MultisigPublicKey {
  const reader = new BinaryReader(body);
  const keys: SinglePublicKey[] = [];
  let threshold = 0;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) threshold = reader.uint32();
    else if (field === 2) keys.push(decodeSingle(reader.bytes()));
    else reader.skip(wireType, field);
  }
  return multisigPublicKey(threshold, keys);
}

function fieldTag(field: number, wireType: WireType): number {
  return (field << 3) | wireType;
}

/** A public key as accounts, transactions and keyrings hold it. */
export function publicKeyToAny(publicKey: PublicKey, namespace: Namespace = "sdk"): Any {
  if (publicKey.type === "multisig") {
    const publicKeys = publicKey.keys.map((key) => publicKeyToAny(key, namespace));
    return packAny(LegacyAminoPubKeySchema, { threshold: publicKey.threshold, publicKeys }, namespace);
  }
  const schema = publicKey.type === "secp256k1" ? Secp256k1Schema : Ed25519Schema;
  return packAny(schema, { key: publicKey.key }, namespace);
}

/** The key in an `Any`, checked for its form. Throws `sdkErrors.invalidPubKey`. */
export function publicKeyFromAny(any: Any): PublicKey {
  const multisig = unpackAs(LegacyAminoPubKeySchema, any);
  if (multisig === undefined) return singleFromAny(any);
  return multisigPublicKey(multisig.threshold, multisig.publicKeys.map(singleFromAny));
}

function singleFromAny(any: Any): SinglePublicKey {
  const secp256k1 = unpackAs(Secp256k1Schema, any);
  if (secp256k1 !== undefined) return secp256k1PublicKey(secp256k1.key);
  const ed25519 = unpackAs(Ed25519Schema, any);
  if (ed25519 === undefined)
    throw sdkErrors.invalidPubKey(`${any.typeUrl.slice(0, 128)} is not a type of a signing key`);
  if (ed25519.key.length !== 32) throw sdkErrors.invalidPubKey(`ed25519 key of ${ed25519.key.length} bytes`);
  return { type: "ed25519", key: ed25519.key };
}
