import type { secp256k1 as Curve } from "@noble/curves/secp256k1.js";
import { compareBytes, fromHex } from "../../util/index.ts";

/**
 * A curve library. All calls take the 32-byte digest, never the message; signatures are 64 bytes R||S, public keys
 * 33 bytes compressed. A back end may throw on input it cannot parse.
 */
export interface Secp256k1Backend {
  readonly name: "native" | "portable";
  publicKey(privateKey: Uint8Array): Uint8Array;
  /** Deterministic (RFC 6979) and low-S. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Uint8Array;
  verify(digest: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean;
}

/** The JavaScript library as a back end: thirty times slower, runs everywhere. */
export function portableBackend(curve: typeof Curve): Secp256k1Backend {
  const options = { prehash: false, lowS: true } as const;
  return {
    name: "portable",
    publicKey: (privateKey) => curve.getPublicKey(privateKey, true),
    sign: (digest, privateKey) => curve.sign(digest, privateKey, options),
    verify: (digest, signature, publicKey) => curve.verify(signature, digest, publicKey, options),
  };
}

/** Order of the group, and half of it, big endian. */
const ORDER = fromHex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
const HALF_ORDER = fromHex("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0");
const ZERO = new Uint8Array(32);

/** True for 32 bytes that are a number from 1 to the group order minus 1. */
export function isPrivateKey(bytes: Uint8Array): boolean {
  return bytes.length === 32 && compareBytes(bytes, ZERO) > 0 && compareBytes(bytes, ORDER) < 0;
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
