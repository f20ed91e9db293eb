import { equalBytes, fromHex, toHex } from "../util/index.ts";
import { decodeAminoPublicKey } from "../wire/index.ts";
import { type Fields, readFields } from "./fields.ts";
import { readPath } from "./record-proto.ts";
import type { KeyRecord } from "./types.ts";

/** Length of a type prefix in the encoding of older tools: total length (varint), prefix, numbered fields. */
const PREFIX_LENGTH = 4;
const PRIVATE_KEY_PREFIX = fromHex("e1b0f79b20");

const READERS: ReadonlyMap<string, (fields: Fields) => KeyRecord> = new Map([
  ["0dad153d", (fields: Fields): KeyRecord => ({ ...common(fields), type: "local", privateKey: privateKeyOf(fields) })],
  [
    "a08cb0fb",
    (fields: Fields): KeyRecord => ({ ...common(fields), type: "ledger", path: readPath(readFields(fields.bytes(3))) }),
  ],
  ["1f4d3ed6", (fields: Fields): KeyRecord => ({ ...common(fields), type: "offline" })],
  ["34878fb8", (fields: Fields): KeyRecord => ({ ...common(fields), type: "multi" })],
]);

/** Reads a record of older tools; undefined where the bytes are none. Throws on a damaged one. */
export function decodeAminoRecord(data: Uint8Array): KeyRecord | undefined {
  const body = stripLength(data);
  const read = READERS.get(toHex(body?.subarray(0, PREFIX_LENGTH) ?? new Uint8Array()));
  return body === undefined || read === undefined ? undefined : read(readFields(body.subarray(PREFIX_LENGTH)));
}

function common(fields: Fields): Pick<KeyRecord, "name" | "publicKey"> {
  return { name: fields.text(1), publicKey: decodeAminoPublicKey(fields.bytes(2)) };
}

function privateKeyOf(fields: Fields): Uint8Array {
  const bytes = fields.bytes(3);
  if (!equalBytes(bytes.subarray(0, PRIVATE_KEY_PREFIX.length), PRIVATE_KEY_PREFIX))
    throw new Error("unknown private key");
  return bytes.subarray(PRIVATE_KEY_PREFIX.length);
}

/** The bytes behind a varint that must be their number. */
function stripLength(data: Uint8Array): Uint8Array | undefined {
  let length = 0;
  for (let i = 0; i < Math.min(data.length, 4); i++) {
    const byte = data[i] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return data.length - i - 1 === length ? data.subarray(i + 1) : undefined;
  }
  return undefined;
}
