import { concatBytes, fromHex } from "../../util/index.ts";
import { derChildren, derInteger, readDer } from "./der.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const NUMBER_HEX = 64;

/**
 * Converts a secp256k1 signature from DER (`SEQUENCE { INTEGER r, INTEGER s }`) to the 64 bytes R||S that transactions
 * hold, with the lower of the two valid values of S. Throws on anything else.
 */
export function signatureFromDer(der: Uint8Array): Uint8Array {
  const [r, s, ...others] = derChildren(readDer(der)).map(derInteger);
  if (r === undefined || s === undefined || others.length > 0) throw new Error("DER: not two numbers");
  if ([r, s].some((number) => number <= 0n || number >= ORDER)) throw new Error("DER: numbers out of range");
  return concatBytes(numberBytes(r), numberBytes(s > ORDER / 2n ? ORDER - s : s));
}

function numberBytes(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(NUMBER_HEX, "0"));
}
