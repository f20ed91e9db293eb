import { equalBytes, fromBase64, toBase64 } from "../../util/index.ts";

/** A block of ASCII armor (OpenPGP, RFC 4880 section 6.2): a type line, headers, base64 and a CRC-24. */
export interface ArmorBlock {
  /** The text after `BEGIN`, for example `TENDERMINT PRIVATE KEY`. */
  readonly type: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

const LINE_LENGTH = 64;
/** Keys need less than 1 KiB; nothing larger is read. */
const MAX_TEXT = 64 * 1024;
const BEGIN = /^-----BEGIN ([A-Z0-9 ]{1,64})-----$/;
const HEADER = /^([A-Za-z][A-Za-z0-9-]{0,31}): (.{0,256})$/;

/** The block as text, without a newline after its last line. Headers are written in the order of the map. */
export function encodeArmor(block: ArmorBlock): string {
  const headers = [...block.headers].map(([key, value]) => `${key}: ${value}`);
  const lines = toBase64(block.body).match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [];
  const checksum = `=${toBase64(crc24(block.body))}`;
  return [`-----BEGIN ${block.type}-----`, ...headers, "", ...lines, checksum, `-----END ${block.type}-----`].join(
    "\n",
  );
}

/** Reads the one block of a text; text before it is skipped. Throws one clear sentence. */
export function decodeArmor(text: string): ArmorBlock {
  if (text.length > MAX_TEXT) throw new Error("armor: larger than 64 KiB");
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  const start = lines.findIndex((line) => BEGIN.test(line));
  const type = BEGIN.exec(lines[start] ?? "")?.[1];
  if (type === undefined) throw new Error('armor: no line "-----BEGIN ...-----"');
  const end = lines.indexOf(`-----END ${type}-----`, start);
  if (end < 0) throw new Error(`armor: no line "-----END ${type}-----"`);
  if (lines.slice(end + 1).some((line) => line !== "")) throw new Error("armor: text after the end of the block");
  const blank = lines.indexOf("", start);
  if (blank < 0 || blank > end) throw new Error("armor: no empty line between headers and data");
  return { type, headers: parseHeaders(lines.slice(start + 1, blank)), body: parseBody(lines.slice(blank + 1, end)) };
}

function parseHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, key, value] = HEADER.exec(line) ?? [];
    if (key === undefined || value === undefined) throw new Error('armor: a header line is not "name: value"');
    if (headers.has(key)) throw new Error(`armor: header "${key}" twice`);
    headers.set(key, value);
  }
  return headers;
}

function parseBody(lines: readonly string[]): Uint8Array {
  const checksum = lines.at(-1);
  if (checksum === undefined || !/^=[A-Za-z0-9+/]{4}$/.test(checksum)) throw new Error("armor: no checksum line");
  const body = decodeBase64(lines.slice(0, -1).join(""));
  if (!equalBytes(crc24(body), fromBase64(checksum.slice(1))))
    throw new Error("armor: checksum does not match the data");
  return body;
}

function decodeBase64(text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch (cause) {
    throw new Error("armor: the data is not base64", { cause });
  }
}

/** CRC-24 of RFC 4880 section 6.1, three bytes big endian. */
function crc24(data: Uint8Array): Uint8Array {
  let crc = 0xb704ce;
  for (const byte of data) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if ((crc & 0x1000000) !== 0) crc ^= 0x1864cfb;
    }
  }
  return Uint8Array.of((crc >> 16) & 0xff, (crc >> 8) & 0xff, crc & 0xff);
}
