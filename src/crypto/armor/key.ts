import { concatBytes, equalBytes, fromHex, sdkErrors, toHexUpper, toUtf8 } from "../../util/index.ts";
import { sha256 } from "../hash.ts";
import { randomBytes } from "../random.ts";
import { isPrivateKey } from "../secp256k1/index.ts";
import { decodeArmor, encodeArmor } from "./ascii.ts";

const BLOCK_TYPE = "TENDERMINT PRIVATE KEY";
const KEY_TYPE = "secp256k1";
/** Amino encoding of a secp256k1 private key: 4-byte type prefix, length, 32 bytes. */
const AMINO_PREFIX = fromHex("e1b0f79b20");
const SALT_LENGTH = 16;
const NONCE_LENGTH = 24;
const BCRYPT_COST = 12;
/** bcrypt ignores all bytes after these. */
export const MAX_BCRYPT_PASSPHRASE = 72;

/**
 * Encrypts a private key under a passphrase, as the ecosystem's tools import it: bcrypt (cost 12), SHA-256 of the hash
 * string, XSalsa20-Poly1305. The text has no newline at its end.
 */
export async function encryptKeyArmor(privateKey: Uint8Array, passphrase: string): Promise<string> {
  if (!isPrivateKey(privateKey)) throw new Error("only secp256k1 private keys can be exported");
  if (toUtf8(passphrase).length > MAX_BCRYPT_PASSPHRASE) {
    throw new Error(`passphrase longer than ${MAX_BCRYPT_PASSPHRASE} bytes: choose a shorter one`);
  }
  const salt = randomBytes(SALT_LENGTH);
  const nonce = randomBytes(NONCE_LENGTH);
  const { xsalsa20poly1305 } = await import("@noble/ciphers/salsa.js");
  const cipher = xsalsa20poly1305(await bcryptKey(passphrase, salt), nonce);
  const body = concatBytes(nonce, cipher.encrypt(concatBytes(AMINO_PREFIX, privateKey)));
  const headers = new Map([
    ["kdf", "bcrypt"],
    ["salt", toHexUpper(salt)],
    ["type", KEY_TYPE],
  ]);
  return encodeArmor({ type: BLOCK_TYPE, headers, body });
}

/**
 * The private key of an armored text with kdf `bcrypt` (older tools) or `argon2` (newer ones). A wrong passphrase is
 * `sdkErrors.wrongPassword`; everything else is one clear sentence.
 */
export async function decryptKeyArmor(text: string, passphrase: string): Promise<Uint8Array> {
  const { type, headers, body } = decodeArmor(text);
  if (type !== BLOCK_TYPE) throw new Error(`unrecognized armor type: ${type}`);
  const keyType = headers.get("type") ?? KEY_TYPE;
  if (keyType !== KEY_TYPE) throw new Error(`key type "${keyType}" is not supported, only ${KEY_TYPE} is`);
  const salt = parseSalt(headers.get("salt"));
  const decrypt = decrypters.get(headers.get("kdf") ?? "");
  if (decrypt === undefined) throw new Error(`unrecognized KDF type: ${headers.get("kdf") ?? ""}`);
  return parseAminoKey(await decrypt(body, passphrase, salt));
}

type Decrypt = (body: Uint8Array, passphrase: string, salt: Uint8Array) => Promise<Uint8Array>;

async function decryptBcrypt(body: Uint8Array, passphrase: string, salt: Uint8Array): Promise<Uint8Array> {
  const { xsalsa20poly1305 } = await import("@noble/ciphers/salsa.js");
  if (body.length < NONCE_LENGTH) throw sdkErrors.wrongPassword();
  const cipher = xsalsa20poly1305(await bcryptKey(passphrase, salt), body.subarray(0, NONCE_LENGTH));
  return open(() => cipher.decrypt(body.subarray(NONCE_LENGTH)));
}

async function decryptArgon2(body: Uint8Array, passphrase: string, salt: Uint8Array): Promise<Uint8Array> {
  const { chacha20poly1305 } = await import("@noble/ciphers/chacha.js");
  const { argon2id } = await import("@noble/hashes/argon2.js");
  const key = argon2id(toUtf8(passphrase), salt, { t: 1, m: 64 * 1024, p: 4, dkLen: 32 });
  // The nonce is all zeros by the format's definition; the salt makes every key fresh.
  return open(() => chacha20poly1305(key, new Uint8Array(12)).decrypt(body));
}

const decrypters: ReadonlyMap<string, Decrypt> = new Map([
  ["bcrypt", decryptBcrypt],
  ["argon2", decryptArgon2],
]);

/** The format derives the key from the hash's text, so the `$2a$` in front is part of it. */
async function bcryptKey(passphrase: string, salt: Uint8Array): Promise<Uint8Array> {
  const bcrypt = await import("bcryptjs");
  const saltText = bcrypt.encodeBase64([...salt], salt.length);
  return sha256(toUtf8(await bcrypt.hash(passphrase, `$2a$${BCRYPT_COST}$${saltText}`)));
}

function open(decrypt: () => Uint8Array): Uint8Array {
  try {
    return decrypt();
  } catch {
    throw sdkErrors.wrongPassword();
  }
}

function parseSalt(text: string | undefined): Uint8Array {
  if (text === undefined || text === "") throw new Error("missing salt bytes");
  if (!/^[0-9a-fA-F]{32}$/.test(text))
    throw new Error(`error decoding salt: ${SALT_LENGTH} bytes in hexadecimal needed`);
  return fromHex(text);
}

function parseAminoKey(bytes: Uint8Array): Uint8Array {
  const key = bytes.subarray(AMINO_PREFIX.length);
  if (!equalBytes(bytes.subarray(0, AMINO_PREFIX.length), AMINO_PREFIX) || !isPrivateKey(key)) {
    throw new Error("the armor holds no secp256k1 private key");
  }
  return key;
}
