import { pbkdf2 } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(pbkdf2);

/** The input of PBKDF2; `length` is the length of the result in bytes. */
export interface Pbkdf2Options {
  readonly salt: string;
  readonly rounds: number;
  readonly length: number;
}

/** PBKDF2 with HMAC-SHA-512 (RFC 8018) over text in UTF-8. */
export function pbkdf2Sha512(password: string, { salt, rounds, length }: Pbkdf2Options): Promise<Uint8Array> {
  return derive(password, salt, rounds, length, "sha512");
}
