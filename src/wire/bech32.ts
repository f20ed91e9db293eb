/** The 32 characters by their code: -1 for others. */
const DIGITS = new Int8Array(128).fill(-1);
for (const [i, character] of [..."qpzry9x8gf2tvdw0s3jn54khce6mua7l"].entries()) DIGITS[character.charCodeAt(0)] = i;

/** Contribution of the five bits shifted out of the checksum, for each of their values (BIP 173). */
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CARRIED = Int32Array.from({ length: 32 }, (_, top) =>
  GENERATORS.reduce((sum, generator, i) => (((top >>> i) & 1) === 1 ? sum ^ generator : sum), 0),
);
const CHECKSUM_CHARACTERS = 6;

/**
 * The bytes of a lower-case bech32 text with this human-readable part; undefined for any other text, which the library
 * reads to report the fault. Genesis files hold millions of addresses, and the library takes ten times as long.
 */
export function quickBech32(text: string, humanPart: string): Uint8Array | undefined {
  const start = humanPart.length + 1;
  const end = text.length - CHECKSUM_CHARACTERS;
  if (end < start || !text.startsWith(humanPart) || text.charCodeAt(start - 1) !== 0x31) return undefined;
  const bytes = new Uint8Array(((end - start) * 5) >>> 3);
  let checksum = checksumOf(humanPart);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = start; i < text.length; i++) {
    const digit = DIGITS[text.charCodeAt(i)] ?? -1;
    if (digit < 0) return undefined;
    checksum = added(checksum, digit);
    if (i >= end) continue;
    held = ((held << 5) | digit) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = held >>> bits;
  }
  const isPadded = bits < 5 && (held & ((1 << bits) - 1)) === 0;
  return checksum === 1 && isPadded ? bytes : undefined;
}

function added(checksum: number, digit: number): number {
  return (((checksum & 0x1ffffff) << 5) ^ digit ^ (CARRIED[checksum >>> 25] ?? 0)) >>> 0;
}

let last = { humanPart: "", checksum: 0 };

/** The checksum of the human-readable part, which is nearly always the same as in the last call. */
function checksumOf(humanPart: string): number {
  if (last.humanPart === humanPart) return last.checksum;
  const codes = [...humanPart].map((character) => character.charCodeAt(0));
  const digits = [...codes.map((code) => code >>> 5), 0, ...codes.map((code) => code & 31)];
  last = { humanPart, checksum: digits.reduce(added, 1) };
  return last.checksum;
}
