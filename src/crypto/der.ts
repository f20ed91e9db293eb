import { concatBytes, fromBase64, fromHex, toBase64, toHex } from "../util/index.ts";

/** Order of the group of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const NUMBER_HEX = 64;
const BLOCK = /^-----BEGIN ([A-Z0-9 ]{1,40})-----\n([A-Za-z0-9+/=\n]*)\n-----END \1-----\n?$/;
const LINE_LENGTH = 64;

/**
 * A strict reader of DER (X.690): definite minimal lengths, one-byte tags. It is written here because certificates are
 * read by consensus code, where all nodes must accept and refuse the same bytes whatever their TLS library is.
 */
export interface DerElement {
  readonly tag: number;
  /** Content octets. */
  readonly content: Uint8Array;
  /** The element with its tag and length. */
  readonly bytes: Uint8Array;
}

export const DER = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The one element that fills `bytes`; throws when anything follows it. */
export function readDer(bytes: Uint8Array): DerElement {
  const element = readAt(bytes, 0);
  if (element.bytes.length !== bytes.length) throw new Error("DER: bytes after the end");
  return element;
}

/** The elements inside a constructed element of the expected tag. */
export function derChildren(element: DerElement | undefined, tag: number = DER.sequence): DerElement[] {
  const content = derContent(element, tag);
  const children: DerElement[] = [];
  for (let offset = 0; offset < content.length; ) {
    const child = readAt(content, offset);
    children.push(child);
    offset += child.bytes.length;
  }
  return children;
}

/** The content of an element that must have the expected tag. */
export function derContent(element: DerElement | undefined, tag: number): Uint8Array {
  if (element?.tag !== tag) throw new Error(`DER: tag ${hexTag(tag)} expected, found ${hexTag(element?.tag)}`);
  return element.content;
}

/** A signed integer in its shortest form. */
export function derInteger(element: DerElement | undefined): bigint {
  const content = derContent(element, DER.integer);
  const [first, second] = content;
  if (first === undefined) throw new Error("DER: empty integer");
  if (second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80))) {
    throw new Error("DER: integer is not in its shortest form");
  }
  return BigInt.asIntN(content.length * 8, BigInt(`0x${toHex(content)}`));
}

/** The bytes of a bit string that has no unused bits. */
export function derBitString(element: DerElement | undefined): Uint8Array {
  const content = derContent(element, DER.bitString);
  if (content[0] !== 0) throw new Error("DER: bit string with unused bits");
  return content.subarray(1);
}

function readAt(bytes: Uint8Array, offset: number): DerElement {
  const tag = bytes[offset];
  const first = bytes[offset + 1];
  if (tag === undefined || first === undefined) throw new Error("DER: cut off");
  if ((tag & 0x1f) === 0x1f) throw new Error("DER: long tags are not supported");
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const start = offset + 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : longLength(bytes.subarray(offset + 2, start), lengthBytes);
  const end = start + length;
  if (end > bytes.length) throw new Error("DER: cut off");
  return { tag, content: bytes.subarray(start, end), bytes: bytes.subarray(offset, end) };
}

function longLength(bytes: Uint8Array, count: number): number {
  if (count < 1 || count > 3 || bytes.length !== count) throw new Error("DER: invalid length");
  const length = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  if (length < 0x80 || bytes[0] === 0) throw new Error("DER: length is not in its shortest form");
  return length;
}

function hexTag(tag: number | undefined): string {
  return tag === undefined ? "nothing" : `0x${tag.toString(16)}`;
}

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

/** PEM text (RFC 7468) of DER bytes, with a newline at its end. */
export function encodePem(type: string, der: Uint8Array): string {
  const lines = toBase64(der).match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [];
  return `-----BEGIN ${type}-----\n${lines.join("\n")}\n-----END ${type}-----\n`;
}

/**
 * The DER bytes of a text that is exactly one PEM block of the expected type: no headers, nothing before or after it but
 * line ends. Throws one clear sentence.
 */
export function decodePem(type: string, pem: Uint8Array | string): Uint8Array {
  const text = typeof pem === "string" ? pem : Buffer.from(pem).toString("latin1");
  const match = BLOCK.exec(text.replaceAll("\r\n", "\n"));
  if (match?.[1] !== type || match[2] === undefined) throw new Error(`not exactly one PEM block "${type}"`);
  try {
    return fromBase64(match[2].replaceAll("\n", ""));
  } catch (cause) {
    throw new Error(`the PEM block "${type}" is not base64`, { cause });
  }
}
