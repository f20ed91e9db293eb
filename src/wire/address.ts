import { bech32 } from "@scure/base";
import { BECH32_PREFIX, errorText, Recent, sdkErrors, toHex } from "../util/index.ts";
import { quickBech32 } from "./bech32.ts";

/** Kind of a bech32 text; the `Pub` kinds hold amino-encoded public keys. */
export type AddressKind = "account" | "valoper" | "valcons";
/** Kinds of public keys in bech32. */
export type PublicKeyKind = "accountPub" | "valoperPub" | "valconsPub";
export type Bech32Kind = AddressKind | PublicKeyKind;

const SUFFIXES: Readonly<Record<Bech32Kind, string>> = {
  account: "",
  accountPub: "pub",
  valoper: "valoper",
  valoperPub: "valoperpub",
  valcons: "valcons",
  valconsPub: "valconspub",
};

/** The ecosystem allows more than BIP-173's 90 characters, because keys of multisigs are longer. */
const MAX_LENGTH = 1023;
/** Addresses per generation of a cache. */
const CACHE_SIZE = 8_192;

/** The human-readable part of a kind, for example `svcvaloper`. */
export function bech32Prefix(kind: Bech32Kind, prefix: string = BECH32_PREFIX): string {
  return prefix + SUFFIXES[kind];
}

/** The text of an address, for example `svc1...`. `prefix` is the one of the network. */
export function encodeAddress(
  bytes: Uint8Array,
  kind: AddressKind = "account",
  prefix: string = BECH32_PREFIX,
): string {
  const humanPart = bech32Prefix(kind, prefix);
  const shared = textOf.get(bytes);
  if (shared !== undefined && isOf(shared, humanPart)) return shared;
  const key = `${humanPart}:${toHex(bytes)}`;
  const cached = encoded.get(key);
  if (cached !== undefined) return cached;
  if (!isAddressLength(bytes.length)) throw sdkErrors.invalidAddress(`address of ${bytes.length} bytes`);
  const text = encodeBech32(bytes, humanPart);
  encoded.set(key, text);
  return text;
}

/**
 * The bytes of an address of the given kind and network: 20, or 32 for module accounts of newer networks. Throws
 * `sdkErrors.invalidAddress`. The result is shared with other callers: do not write to it.
 */
export function decodeAddress(text: string, kind: AddressKind = "account", prefix: string = BECH32_PREFIX): Uint8Array {
  const expected = bech32Prefix(kind, prefix);
  if (!text.startsWith(expected)) throw wrongPrefix(text, expected);
  const cached = decoded.get(text);
  if (cached !== undefined && isOf(text, expected)) {
    // At the second time: a genesis file has millions that come once.
    if (!textOf.has(cached)) textOf.set(cached, text);
    return cached;
  }
  const bytes = decodeBech32(text, expected);
  if (!isAddressLength(bytes.length))
    throw sdkErrors.invalidAddress(`${quote(text)} holds ${bytes.length} bytes, not 20`);
  decoded.set(text, bytes);
  return bytes;
}

/** Whether a well-formed address has this human-readable part: `svcvaloper1...` begins with `svc` too. */
function isOf(text: string, humanPart: string): boolean {
  return text.startsWith(humanPart) && text.lastIndexOf("1") === humanPart.length;
}

/** Whether the text is a well-formed address of the kind and network. */
export function isAddress(text: string, kind: AddressKind = "account", prefix: string = BECH32_PREFIX): boolean {
  try {
    decodeAddress(text, kind, prefix);
    return true;
  } catch {
    return false;
  }
}

/** Bytes as bech32 with an arbitrary human-readable part. */
export function encodeBech32(bytes: Uint8Array, humanPart: string): string {
  return bech32.encode(humanPart, bech32.toWords(bytes), MAX_LENGTH);
}

/** The bytes of a bech32 text whose human-readable part must be the expected one. Throws `sdkErrors.invalidAddress`. */
export function decodeBech32(text: string, expectedHumanPart: string): Uint8Array {
  const quick = quickBech32(text, expectedHumanPart);
  if (quick !== undefined && text.length <= MAX_LENGTH) return quick;
  const { humanPart, bytes } = parseBech32(text);
  if (humanPart !== expectedHumanPart) throw wrongPrefix(text, expectedHumanPart);
  return bytes;
}

/** Both parts of any bech32 text, lower case only: an address has one spelling. Throws `sdkErrors.invalidAddress`. */
export function parseBech32(text: string): { readonly humanPart: string; readonly bytes: Uint8Array } {
  if (text === "") throw sdkErrors.invalidAddress("empty address string is not allowed");
  if (text.length > MAX_LENGTH)
    throw sdkErrors.invalidAddress(`${quote(text)} is longer than ${MAX_LENGTH} characters`);
  if (text !== text.toLowerCase()) throw sdkErrors.invalidAddress(`${quote(text)} is not in lower case`);
  try {
    const { prefix, words } = bech32.decode(text, MAX_LENGTH);
    return { humanPart: prefix, bytes: bech32.fromWords(words) };
  } catch (cause) {
    const reason = /checksum/i.test(errorText(cause))
      ? "its checksum is wrong: is there a typing error?"
      : "it is not bech32";
    throw sdkErrors.invalidAddress(`decoding bech32 failed for ${quote(text)}, ${reason}`, { cause });
  }
}

/** Whether the text is bech32 with any human-readable part, in lower case. */
export function isBech32(text: string): boolean {
  try {
    parseBech32(text);
    return true;
  } catch {
    return false;
  }
}

/** The account address of a validator's operator, of whatever network; throws `sdkErrors.invalidAddress`. */
export function accountOfValidator(text: string): string {
  const { humanPart, bytes } = parseBech32(text);
  if (!humanPart.endsWith(SUFFIXES.valoper)) throw wrongPrefix(text, SUFFIXES.valoper);
  return encodeBech32(bytes, humanPart.slice(0, -SUFFIXES.valoper.length));
}

/* A node meets the same few thousand addresses all the time. */

/** Addresses by text. */
const decoded = new Recent<string, Uint8Array>(CACHE_SIZE);
/** Texts of the addresses that `decodeAddress` shares; their bytes never change. */
const textOf = new WeakMap<Uint8Array, string>();
/** Texts by human-readable part and address. */
const encoded = new Recent<string, string>(CACHE_SIZE);

function isAddressLength(length: number): boolean {
  return length === 20 || length === 32;
}

function wrongPrefix(text: string, expected: string): Error {
  const separator = text.lastIndexOf("1");
  const found = separator > 0 ? `, got ${quote(text.slice(0, separator))}` : "";
  if (text === "") return sdkErrors.invalidAddress("empty address string is not allowed");
  return sdkErrors.invalidAddress(`invalid Bech32 prefix in ${quote(text)}; expected ${expected}${found}`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}
