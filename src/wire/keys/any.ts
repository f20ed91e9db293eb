import { sdkErrors } from "../../util/index.ts";
import { type Any, packAny, unpackAs } from "../any.ts";
import { PubKeySchema as Ed25519Schema } from "../gen/sdk/crypto/ed25519/keys_pb.js";
import { LegacyAminoPubKeySchema } from "../gen/sdk/crypto/multisig/keys_pb.js";
import { PubKeySchema as Secp256k1Schema } from "../gen/sdk/crypto/secp256k1/keys_pb.js";
import type { Namespace } from "../namespace.ts";
import { multisigPublicKey, type PublicKey, type SinglePublicKey, secp256k1PublicKey } from "./public-key.ts";

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
