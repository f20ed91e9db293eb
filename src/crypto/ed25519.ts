import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from "node:crypto";
import { concatBytes, fromHex } from "../util/index.ts";

/** DER around a raw key: PKCS #8 for the seed, SubjectPublicKeyInfo for the public key (RFC 8410). */
const PKCS8_PREFIX = fromHex("302e020100300506032b657004220420");
const SPKI_PREFIX = fromHex("302a300506032b6570032100");

/** A fresh 32-byte seed, which is the private key. */
export function generateEd25519Seed(): Uint8Array {
  return randomBytes(32);
}

/** The 32-byte public key of a 32-byte seed. */
export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  return createPublicKey(seedKey(seed)).export({ format: "der", type: "spki" }).subarray(SPKI_PREFIX.length);
}

/** Signs with the key of a 32-byte seed: 64 bytes over the message itself (no prehash). Reading the seed takes longer than a signature. */
export function ed25519Signer(seed: Uint8Array): (message: Uint8Array) => Uint8Array {
  const key = seedKey(seed);
  return (message) => sign(null, message, key);
}

/** Never throws: malformed keys and signatures are simply not valid. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    const der = Buffer.concat([SPKI_PREFIX, publicKey]);
    return verify(null, message, createPublicKey({ key: der, format: "der", type: "spki" }), signature);
  } catch {
    return false;
  }
}

function seedKey(seed: Uint8Array): KeyObject {
  if (seed.length !== 32) throw new Error(`invalid ed25519 seed: 32 bytes needed, got ${seed.length}`);
  return createPrivateKey({ key: Buffer.from(concatBytes(PKCS8_PREFIX, seed)), format: "der", type: "pkcs8" });
}
