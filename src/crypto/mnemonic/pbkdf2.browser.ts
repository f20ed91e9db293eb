import { pbkdf2Async } from "@noble/hashes/pbkdf2.js";
import { sha512 } from "@noble/hashes/sha2.js";
import type { Pbkdf2Options } from "./pbkdf2.ts";

/** PBKDF2 with HMAC-SHA-512 (RFC 8018) over text in UTF-8. WebCrypto has it too, but only on secure pages. */
export function pbkdf2Sha512(password: string, { salt, rounds, length }: Pbkdf2Options): Promise<Uint8Array> {
  return pbkdf2Async(sha512, password, salt, { c: rounds, dkLen: length });
}
