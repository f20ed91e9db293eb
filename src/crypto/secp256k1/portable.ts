import type { secp256k1 as Curve } from "@noble/curves/secp256k1.js";
import type { Secp256k1Backend } from "./backend.ts";

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
