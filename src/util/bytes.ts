/** Byte-string helpers. Node's Buffer does the work; every result is a plain view safe to share. */

const utf8 = new TextEncoder();
const utf8Strict = new TextDecoder("utf-8", { fatal: true });

/** Lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Upper-case hex, the form of transaction and block hashes. */
export function toHexUpper(bytes: Uint8Array): string {
  return toHex(bytes).toUpperCase();
}

/** Decodes hex of either case; throws on an odd length or a foreign character. */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) throw new Error(`invalid hex: ${text.slice(0, 80)}`);
  return Buffer.from(text, "hex");
}

/** Standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Decodes standard base64 with padding, strictly (Node's own decoder skips what it does not know). */
export function fromBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new Error("invalid base64");
  return Buffer.from(text, "base64");
}

export function toUtf8(text: string): Uint8Array {
  return utf8.encode(text);
}

/** Decodes UTF-8; throws on malformed input. */
export function fromUtf8(bytes: Uint8Array): string {
  return utf8Strict.decode(bytes);
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

/** Bytewise order: negative, zero or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && Buffer.compare(a, b) === 0;
}

/** Eight bytes, big endian, so that keys sort by number. */
export function uint64ToBytes(value: bigint): Uint8Array {
  const out = Buffer.alloc(8);
  out.writeBigUInt64BE(value);
  return out;
}

export function bytesToUint64(bytes: Uint8Array): bigint {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readBigUInt64BE();
}
