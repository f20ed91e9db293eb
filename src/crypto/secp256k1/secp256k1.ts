import { compareBytes, fromHex } from "../../util/index.ts";
import { sha256 } from "../hash.ts";
import { randomBytes } from "../random.ts";
import { secp256k1Backend } from "./backend.ts";
import type { Secp256k1Backend } from "./portable.ts";

/** Order of the group, and half of it, big endian. */
const ORDER = fromHex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
const HALF_ORDER = fromHex("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0");
const ZERO = new Uint8Array(32);

/** True for 32 bytes that are a number from 1 to the group order minus 1. */
export function isPrivateKey(bytes: Uint8Array): boolean {
  return bytes.length === 32 && compareBytes(bytes, ZERO) > 0 && compareBytes(bytes, ORDER) < 0;
}

/** A fresh secp256k1 private key, 32 bytes from the system's random source. */
export function generatePrivateKey(): Uint8Array {
  for (;;) {
    const candidate = randomBytes(32);
    if (isPrivateKey(candidate)) return candidate;
  }
}

/** The 33-byte compressed public key. Throws on bytes that are not a private key. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  checkPrivateKey(privateKey);
  return secp256k1Backend().publicKey(privateKey);
}

/** Signature over SHA-256 of the message: 64 bytes R||S, low-S, deterministic nonce (RFC 6979). */
export function signSecp256k1(privateKey: Uint8Array, message: Uint8Array): Uint8Array {
  checkPrivateKey(privateKey);
  return secp256k1Backend().sign(sha256(message), privateKey);
}

/**
 * Whether `signature` (64 bytes R||S) over SHA-256 of the message was made by the compressed `publicKey`. Never throws.
 * Libraries differ on high-S twins and on odd encodings, and a difference between two nodes would split the chain, so
 * everything but the curve equation itself is decided here.
 */
export function verifySecp256k1(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return verifyWith(secp256k1Backend(), publicKey, { message, signature });
}

/** `verifySecp256k1` with a given library. */
export function verifyWith(
  backend: Secp256k1Backend,
  publicKey: Uint8Array,
  signed: { readonly message: Uint8Array; readonly signature: Uint8Array },
): boolean {
  if (!isCanonicalSignature(signed.signature) || !isCompressedForm(publicKey)) return false;
  try {
    return backend.verify(sha256(signed.message), signed.signature, publicKey);
  } catch {
    return false;
  }
}

/** True for 64 bytes with R in [1, n-1] and S in [1, n/2]. */
export function isCanonicalSignature(signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  const r = signature.subarray(0, 32);
  const s = signature.subarray(32);
  return (
    compareBytes(r, ZERO) > 0 &&
    compareBytes(r, ORDER) < 0 &&
    compareBytes(s, ZERO) > 0 &&
    compareBytes(s, HALF_ORDER) <= 0
  );
}

/** True for 33 bytes with the tag of a compressed point; whether the point is on the curve shows when it is used. */
export function isCompressedForm(publicKey: Uint8Array): boolean {
  return publicKey.length === 33 && (publicKey[0] === 2 || publicKey[0] === 3);
}

function checkPrivateKey(privateKey: Uint8Array): void {
  if (!isPrivateKey(privateKey))
    throw new Error("invalid secp256k1 private key: 32 bytes within the group order needed");
}
