import type { Any } from "@bufbuild/protobuf/wkt";
import { sdkErrors } from "../util/index.ts";
import { PubKeySchema as Ed25519PubKeySchema } from "../wire/gen/sdk/crypto/ed25519/keys_pb.js";
import { LegacyAminoPubKeySchema } from "../wire/gen/sdk/crypto/multisig/keys_pb.js";
import { PubKeySchema as Secp256k1PubKeySchema } from "../wire/gen/sdk/crypto/secp256k1/keys_pb.js";
import {
  multisigPublicKey,
  type Namespace,
  type PublicKey,
  packAny,
  type SinglePublicKey,
  secp256k1PublicKey,
  unpackAs,
} from "../wire/index.ts";

/** Reads the public key of an account: secp256k1, or a threshold of such keys. Throws `sdk/8` for anything else. */
export function readPublicKey(any: Any): PublicKey {
  const multisig = unpackAs(LegacyAminoPubKeySchema, any);
  if (multisig === undefined) return readSingleKey(any);
  return multisigPublicKey(multisig.threshold, multisig.publicKeys.map(readSingleKey));
}

function readSingleKey(any: Any): SinglePublicKey {
  const secp256k1 = unpackAs(Secp256k1PubKeySchema, any);
  if (secp256k1 !== undefined) return secp256k1PublicKey(secp256k1.key);
  if (unpackAs(Ed25519PubKeySchema, any) !== undefined)
    throw sdkErrors.invalidPubKey("ed25519 keys belong to validators and sign no transactions");
  if (unpackAs(LegacyAminoPubKeySchema, any) !== undefined)
    throw sdkErrors.invalidPubKey("a multisignature key cannot be a member of another");
  throw sdkErrors.invalidPubKey(`unknown key type ${JSON.stringify(any.typeUrl.slice(0, 100))}`);
}

/** The key as a message inside `Any`. */
export function publicKeyAny(key: PublicKey, namespace: Namespace): Any {
  if (key.type === "multisig") {
    const publicKeys = key.keys.map((member) => publicKeyAny(member, namespace));
    return packAny(LegacyAminoPubKeySchema, { threshold: key.threshold, publicKeys }, namespace);
  }
  return packAny(key.type === "secp256k1" ? Secp256k1PubKeySchema : Ed25519PubKeySchema, { key: key.key }, namespace);
}
