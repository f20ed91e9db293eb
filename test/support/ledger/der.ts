import { fromHex, toHex } from "../../../src/util/index.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * A signature R||S in the form of devices: two numbers in DER. On demand with the higher of the two valid values of S.
 */
export function derSignature(signature: Uint8Array, highS: boolean): Uint8Array {
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)].map((part) => BigInt(`0x${toHex(part)}`));
  const body = [derNumber(r ?? 0n), derNumber(highS ? ORDER - (s ?? 0n) : (s ?? 0n))].flat();
  return Uint8Array.from([0x30, body.length, ...body]);
}

/** Positive numbers whose first bit is set have a zero in front. */
function derNumber(value: bigint): number[] {
  const hex = value.toString(16);
  const bytes = [...fromHex(hex.length % 2 === 0 ? hex : `0${hex}`)];
  const content = (bytes[0] ?? 0) >= 0x80 ? [0, ...bytes] : bytes;
  return [0x02, content.length, ...content];
}
