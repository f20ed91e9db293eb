import { COIN_TYPE } from "../../util/index.ts";
import { randomBytes } from "../random.ts";
import { pbkdf2Sha512 } from "./pbkdf2.ts";

const ROUNDS = 2048;
const SEED_LENGTH = 64;

const HARDENED = 0x8000_0000;
const ELEMENT = /^(\d{1,10})('?)$/;
/** BIP-32 stores the depth in one byte. */
const MAX_DEPTH = 255;

/** A fresh English BIP-39 phrase of 24 words (256 bits), or the phrase of the given 16 to 32 bytes of entropy. */
export async function generateMnemonic(entropy: Uint8Array = randomBytes(32)): Promise<string> {
  const [bip39, words] = await loadBip39();
  return bip39.entropyToMnemonic(entropy, words);
}

/** Single spaces, lower case, NFKD: the form in which a phrase typed by a person is checked and used. */
export function normalizeMnemonic(text: string): string {
  return text.normalize("NFKD").trim().toLowerCase().split(/\s+/).join(" ");
}

/** Whether the phrase has 12, 15, 18, 21 or 24 known words and the right checksum. */
export async function isMnemonic(text: string): Promise<boolean> {
  const [bip39, words] = await loadBip39();
  return bip39.validateMnemonic(normalizeMnemonic(text), words);
}

/** The 64-byte BIP-39 seed. Throws `invalid mnemonic` without showing the phrase. */
export async function mnemonicToSeed(mnemonic: string, passphrase = ""): Promise<Uint8Array> {
  if (!(await isMnemonic(mnemonic))) throw new Error("invalid mnemonic");
  const salt = `mnemonic${passphrase.normalize("NFKD")}`;
  return pbkdf2Sha512(normalizeMnemonic(mnemonic), { salt, rounds: ROUNDS, length: SEED_LENGTH });
}

/** The 32-byte BIP-32 private key at a path such as `m/44'/118'/0'/0/0`. */
export async function derivePrivateKey(seed: Uint8Array, path: string): Promise<Uint8Array> {
  const indexes = parseHdPath(path);
  const { HDKey } = await import("@scure/bip32");
  const key = indexes.reduce((parent, index) => parent.deriveChild(index), HDKey.fromMasterSeed(seed));
  if (key.privateKey === null || key.privateKey === undefined) throw new Error("derivation gave no private key");
  return key.privateKey;
}

async function loadBip39() {
  const [bip39, english] = await Promise.all([import("@scure/bip39"), import("@scure/bip39/wordlists/english.js")]);
  return [bip39, english.wordlist] as const;
}

/** Child numbers of a path, the hardened ones with bit 31 set. */
export type HdPath = readonly number[];

/**
 * Parses `m/44'/118'/0'/0/0`; the `m/` may be left out, any depth is allowed and a trailing slash is ignored.
 * Throws one clear sentence.
 */
export function parseHdPath(text: string): HdPath {
  const path = text.replace(/\/+$/, "");
  if (!path.includes("/")) throw new Error(`path '${path}' doesn't contain '/' separators`);
  const parts = path.split("/");
  if (parts[0] === "m") parts.shift();
  if (parts.length > MAX_DEPTH)
    throw new Error(`invalid BIP 32 path ${text.slice(0, 80)}: more than ${MAX_DEPTH} levels`);
  return parts.map((part) => parseElement(part, text));
}

function parseElement(part: string, path: string): number {
  const match = ELEMENT.exec(part);
  const index = Number(match?.[1] ?? Number.NaN);
  if (match === null || index >= HARDENED) {
    throw new Error(`invalid BIP 32 path ${path.slice(0, 80)}: "${part.slice(0, 20)}" is not a number below 2^31`);
  }
  return match[2] === "'" ? index + HARDENED : index;
}

/** The path of an account by its three numbers: `m/44'/<coinType>'/<account>'/0/<index>`. */
export function bip44Path(numbers: { coinType?: number; account?: number; index?: number } = {}): string {
  return `m/44'/${numbers.coinType ?? COIN_TYPE}'/${numbers.account ?? 0}'/0/${numbers.index ?? 0}`;
}
