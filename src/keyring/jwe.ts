import { createCipheriv, createDecipheriv, pbkdf2Sync, randomBytes } from "node:crypto";
import { concatBytes, fromUtf8, sdkErrors, toUtf8 } from "../util/index.ts";

/**
 * Items are compact JWE texts (RFC 7516) encrypted under a passphrase with PBES2-HS256+A128KW (RFC 7518 section 4.8)
 * and A256GCM. Done over the platform's primitives: three calls, and nothing to load.
 */
const ALGORITHM = "PBES2-HS256+A128KW";
const ENCRYPTION = "A256GCM";
/** A file must not make the reader work for minutes, nor ask for no work at all. */
const ROUNDS_ALLOWED = { min: 1000, max: 1_000_000 };
const SALT_LENGTH = 12;
const KEY_WRAP_IV = Buffer.alloc(8, 0xa6);
/** Maximum bytes of a stored item. */
export const MAX_ITEM = 256 * 1024;

interface Header {
  readonly alg: unknown;
  readonly enc: unknown;
  readonly p2c: unknown;
  readonly p2s: unknown;
}

/** The unencrypted part of an item. */
export interface ItemHeader {
  /** A text for people. */
  readonly created: string;
  /** Rounds of PBKDF2 that make the passphrase a key. */
  readonly rounds: number;
}

/** Encrypts under a passphrase. */
export async function encryptItem(
  plaintext: Uint8Array,
  passphrase: string,
  { created, rounds }: ItemHeader,
): Promise<string> {
  const salt = randomBytes(SALT_LENGTH);
  const header = { alg: ALGORITHM, created, enc: ENCRYPTION, p2c: rounds, p2s: base64url(salt) };
  const protectedHeader = base64url(toUtf8(JSON.stringify(header)));
  const contentKey = randomBytes(32);
  const wrap = createCipheriv("aes128-wrap", wrappingKey(passphrase, salt, rounds), KEY_WRAP_IV);
  const wrapped = concatBytes(wrap.update(contentKey), wrap.final());
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", contentKey, iv).setAAD(toUtf8(protectedHeader));
  const ciphertext = concatBytes(cipher.update(plaintext), cipher.final());
  return [protectedHeader, ...[wrapped, iv, ciphertext, cipher.getAuthTag()].map(base64url)].join(".");
}

/** Decrypts; rejects with `sdkErrors.wrongPassword` for the wrong passphrase, with a plain error for damaged text. */
export async function decryptItem(text: string, passphrase: string): Promise<Uint8Array> {
  if (text.length > MAX_ITEM) throw new Error("item larger than 256 KiB");
  const parts = text.trim().split(".");
  const [protectedHeader = "", ...rest] = parts;
  const [wrapped, iv, ciphertext, tag] = rest.map((part) => Buffer.from(part, "base64url"));
  if (
    parts.length !== 5 ||
    wrapped === undefined ||
    iv === undefined ||
    ciphertext === undefined ||
    tag === undefined
  ) {
    throw new Error("item is not a compact JWE");
  }
  const { rounds, salt } = checkHeader(protectedHeader);
  const contentKey = unwrap(wrapped, wrappingKey(passphrase, salt, rounds));
  if (contentKey.length !== 32 || tag.length !== 16) throw new Error("item is damaged");
  const decipher = createDecipheriv("aes-256-gcm", contentKey, iv).setAAD(toUtf8(protectedHeader)).setAuthTag(tag);
  return concatBytes(decipher.update(ciphertext), decipher.final());
}

function checkHeader(protectedHeader: string): { rounds: number; salt: Uint8Array } {
  const header: Header = JSON.parse(fromUtf8(Buffer.from(protectedHeader, "base64url")));
  if (header.alg !== ALGORITHM || header.enc !== ENCRYPTION) throw new Error("item is encrypted in an unknown way");
  const { p2c, p2s } = header;
  const allowed =
    typeof p2c === "number" && Number.isInteger(p2c) && p2c >= ROUNDS_ALLOWED.min && p2c <= ROUNDS_ALLOWED.max;
  if (!allowed || typeof p2s !== "string") throw new Error("item header p2c or p2s is out of range");
  return { rounds: p2c, salt: Buffer.from(p2s, "base64url") };
}

/**
 * In this thread: starting others costs as much as the usual rounds, and a command that opens its keys does nothing
 * else meanwhile.
 */
function wrappingKey(passphrase: string, salt: Uint8Array, rounds: number): Uint8Array {
  return pbkdf2Sync(passphrase, concatBytes(toUtf8(ALGORITHM), Uint8Array.of(0), salt), rounds, 16, "sha256");
}

function unwrap(wrapped: Uint8Array, key: Uint8Array): Uint8Array {
  try {
    const decipher = createDecipheriv("aes128-wrap", key, KEY_WRAP_IV);
    return concatBytes(decipher.update(wrapped), decipher.final());
  } catch {
    throw sdkErrors.wrongPassword();
  }
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
