import {
  decodeAddress,
  decodePublicKey,
  encodeAddress,
  publicKeyAddress,
  publicKeyFromJson,
  readJson,
} from "../../../wire/index.ts";

/** The consensus address of a validator from itself, from the bech32 form of its key or from the key's JSON. */
export function consensusAddress(text: string, prefix: string): string {
  if (text.startsWith("{")) {
    return encodeAddress(publicKeyAddress(publicKeyFromJson(readJson(text))), "valcons", prefix);
  }
  if (text.startsWith(`${prefix}valconspub`)) {
    return encodeAddress(publicKeyAddress(decodePublicKey(text, "valconsPub", prefix)), "valcons", prefix);
  }
  decodeAddress(text, "valcons", prefix);
  return text;
}
