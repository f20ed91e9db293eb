import { toUtf8 } from "../util/index.ts";
import { ripemd160, sha256 } from "./hash.ts";

/** Addresses made by hashing keys and names have 20 bytes. */
const HASHED_ADDRESS_LENGTH = 20;

/** Address of an account: RIPEMD-160 of SHA-256 of the 33-byte compressed secp256k1 key. */
export function accountAddress(publicKey: Uint8Array): Uint8Array {
  return ripemd160(sha256(publicKey));
}

/** Address of a consensus key: the first 20 bytes of SHA-256 of the 32-byte ed25519 key. */
export function consensusAddress(publicKey: Uint8Array): Uint8Array {
  return truncatedHash(publicKey);
}

/** Address of a multisig account: the first 20 bytes of SHA-256 of the amino-encoded threshold key. */
export function multisigAddress(aminoPublicKey: Uint8Array): Uint8Array {
  return truncatedHash(aminoPublicKey);
}

/** Address of a module's account: the first 20 bytes of SHA-256 of its name. */
export function moduleAddress(name: string): Uint8Array {
  return truncatedHash(toUtf8(name));
}

function truncatedHash(data: Uint8Array): Uint8Array {
  return sha256(data).subarray(0, HASHED_ADDRESS_LENGTH);
}
