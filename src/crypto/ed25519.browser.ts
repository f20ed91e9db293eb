import { ed25519 } from "@noble/curves/ed25519.js";

/** The functions of `ed25519.ts` in JavaScript. */

export function generateEd25519Seed(): Uint8Array {
  return ed25519.utils.randomSecretKey();
}

export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  return ed25519.getPublicKey(seed);
}

export function ed25519Signer(seed: Uint8Array): (message: Uint8Array) => Uint8Array {
  return (message) => ed25519.sign(message, seed);
}

export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}
