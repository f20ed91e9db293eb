import { fromBase64, toBase64 } from "../../util/index.ts";

const BLOCK = /^-----BEGIN ([A-Z0-9 ]{1,40})-----\n([A-Za-z0-9+/=\n]*)\n-----END \1-----\n?$/;
const LINE_LENGTH = 64;

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
