import { errorText, fromBase64, fromHex, toBase64, toHex, toHexUpper } from "../../util/index.ts";
import {
  decodeAminoPublicKey,
  encodeAddress,
  encodePublicKey,
  isObject,
  type JsonObject,
  type JsonValue,
  type PublicKey,
  parseBech32,
  printJson,
  publicKeyAddress,
  readJson,
  secp256k1PublicKey,
  toNamespace,
} from "../../wire/index.ts";
import type { NetworkProfile } from "../command/profile.ts";
import type { CommandInput } from "../command/spec.ts";
import { usageError } from "../errors.ts";
import { printAs } from "../terminal/output.ts";

const ADDRESS_LENGTHS = [20, 32];

/** `debug addr ADDRESS`: bytes, hexadecimal, and bech32 as the profile writes it. */
export async function debugAddr(input: CommandInput): Promise<void> {
  const [text = ""] = input.args;
  const bytes = addressBytes(text.trim());
  const prefix = input.flags.profile.bech32Prefix;
  const [hex, account, valoper, valcons] = [
    toHexUpper(bytes),
    encodeAddress(bytes, "account", prefix),
    encodeAddress(bytes, "valoper", prefix),
    encodeAddress(bytes, "valcons", prefix),
  ];
  const lines = [
    `Address: [${[...bytes].join(" ")}]`,
    `Address (hex): ${hex}`,
    `Bech32 Acc: ${account}`,
    `Bech32 Val: ${valoper}`,
    `Bech32 Con: ${valcons}`,
  ];
  printAs(input, { hex, account, valoper, valcons }, `${lines.join("\n")}\n`);
}

function addressBytes(text: string): Uint8Array {
  const bytes = readAddress(text);
  if (!ADDRESS_LENGTHS.includes(bytes.length)) {
    throw usageError(`<address>: an address has 20 or 32 bytes, not ${bytes.length}`, "is something missing?");
  }
  return bytes;
}

function readAddress(text: string): Uint8Array {
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return fromHex(text);
  try {
    return parseBech32(text).bytes;
  } catch (error) {
    throw usageError(`<address>: ${errorText(error)}`, "write hexadecimal digits or bech32");
  }
}

/** `debug pubkey KEY`: address and key in every form. */
export async function debugPubkey(input: CommandInput): Promise<void> {
  const [text = ""] = input.args;
  const { bech32Prefix: prefix, namespace } = input.flags.profile;
  const key = readKey(text.trim());
  const isConsensus = key.type === "ed25519";
  const name = isConsensus ? "Con" : "Acc";
  const hex = toHexUpper(publicKeyAddress(key));
  const address = encodeAddress(publicKeyAddress(key), isConsensus ? "valcons" : "account", prefix);
  const bech32 = encodePublicKey(key, isConsensus ? "valconsPub" : "accountPub", prefix);
  const single = key.type === "multisig" ? {} : { public_key: keyJson(key, namespace), public_key_hex: toHex(key.key) };
  const lines = [
    `Address: ${hex}`,
    ...("public_key" in single
      ? [`PubKey Hex: ${single.public_key_hex}`, `JSON: ${printJson(single.public_key)}`]
      : []),
    `Bech32 ${name}: ${address}`,
    `Bech32 ${name} Pub: ${bech32}`,
  ];
  printAs(input, { hex, address, bech32, ...single }, `${lines.join("\n")}\n`);
}

function keyJson(
  { type, key }: Exclude<PublicKey, { type: "multisig" }>,
  namespace: NetworkProfile["namespace"],
): JsonObject {
  return { "@type": toNamespace(`/sdk.crypto.${type}.PubKey`, namespace), key: toBase64(key) };
}

const FORMS = "write JSON with @type and key, bech32, hexadecimal or base64";

function readKey(text: string): PublicKey {
  try {
    if (text.startsWith("{")) return keyOfJson(readJson(text));
    if (/^(?:[0-9a-f]{2})+$/i.test(text)) return keyOfBytes(fromHex(text));
    if (/^[a-z0-9]+pub1[a-z0-9]+$/.test(text)) return decodeAminoPublicKey(parseBech32(text).bytes);
    return keyOfBytes(fromBase64(text));
  } catch (error) {
    throw usageError(`<key>: ${errorText(error)}`, FORMS);
  }
}

const TYPES: ReadonlyMap<string, "secp256k1" | "ed25519"> = new Map([
  ["/sdk.crypto.secp256k1.PubKey", "secp256k1"],
  ["/sdk.crypto.ed25519.PubKey", "ed25519"],
  ["tendermint/PubKeySecp256k1", "secp256k1"],
  ["tendermint/PubKeyEd25519", "ed25519"],
]);

/** A key in proto JSON, or in the amino JSON of genesis files and older tools. */
function keyOfJson(json: JsonValue): PublicKey {
  const object = isObject(json) ? json : {};
  const [name, value] = [object["@type"] ?? object.type, object.key ?? object.value];
  const type = typeof name === "string" ? TYPES.get(toNamespace(name, "sdk")) : undefined;
  if (type === undefined || typeof value !== "string") throw new Error("the type of the key is not known");
  return keyOf(type, fromBase64(value));
}

function keyOfBytes(bytes: Uint8Array): PublicKey {
  if (bytes.length === 33) return keyOf("secp256k1", bytes);
  return bytes.length === 32 ? keyOf("ed25519", bytes) : decodeAminoPublicKey(bytes);
}

function keyOf(type: "secp256k1" | "ed25519", key: Uint8Array): PublicKey {
  if (type === "secp256k1") return secp256k1PublicKey(key);
  if (key.length !== 32) throw new Error(`an ed25519 key has 32 bytes, not ${key.length}`);
  return { type, key };
}

/** `debug raw-bytes BYTES`: decimal numbers separated by spaces or commas, with or without brackets. */
export async function debugRawBytes(input: CommandInput): Promise<void> {
  const text = input.args.join(" ").trim();
  const inner = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  const words = inner.split(/[\s,]+/).filter((word) => word !== "");
  const wrong = words.find((word) => !/^\d{1,3}$/.test(word) || Number(word) > 255);
  if (wrong !== undefined) {
    throw usageError(
      `<bytes>: ${JSON.stringify(wrong.slice(0, 64))} is not a number from 0 to 255`,
      "write '[10 21 13 255]'",
    );
  }
  const hex = toHexUpper(Uint8Array.from(words, Number));
  printAs(input, { hex }, `${hex}\n`);
}
