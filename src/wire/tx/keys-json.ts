import { AnySchema } from "@bufbuild/protobuf/wkt";
import { fromBase64, sdkErrors } from "../../util/index.ts";
import { fromJson, isArray, isObject, type JsonValue } from "../json/index.ts";
import {
  multisigPublicKey,
  type PublicKey,
  publicKeyFromAny,
  type SinglePublicKey,
  secp256k1PublicKey,
} from "../keys/index.ts";
import { ED25519_NAME, MULTISIG_NAME, SECP256K1_NAME } from "./amino.ts";

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
