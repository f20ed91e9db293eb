import type { secp256k1 as Curve } from "@noble/curves/secp256k1.js";

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
