import { sha256 } from "../hash.ts";
import { randomBytes } from "../random.ts";
import { secp256k1Backend } from "./backend.ts";
import { isCanonicalSignature, isCompressedForm, isPrivateKey, type Secp256k1Backend } from "./portable.ts";

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

function checkPrivateKey(privateKey: Uint8Array): void {
  if (!isPrivateKey(privateKey))
    throw new Error("invalid secp256k1 private key: 32 bytes within the group order needed");
}
