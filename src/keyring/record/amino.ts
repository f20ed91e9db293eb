import { concatBytes, equalBytes, fromHex, toHex } from "../../util/index.ts";
import { decodeAminoPublicKey, encodeAminoPublicKey, type MultisigPublicKey } from "../../wire/index.ts";
import type { KeyRecord, KeyType } from "../types.ts";
import { type Field, type Fields, readFields, writeFields } from "./fields.ts";
import { encodePath, readPath } from "./proto.ts";

/** Length of a type prefix in the encoding of older tools: total length (varint), prefix, numbered fields. */
const PREFIX_LENGTH = 4;
const PRIVATE_KEY_PREFIX = fromHex("e1b0f79b20");

const PREFIXES: Readonly<Record<KeyType, string>> = {
  local: "0dad153d",
  ledger: "a08cb0fb",
  offline: "1f4d3ed6",
  multi: "34878fb8",
};

const READERS: ReadonlyMap<string, (fields: Fields) => KeyRecord> = new Map([
  [
    PREFIXES.local,
    (fields: Fields): KeyRecord => ({ ...common(fields), type: "local", privateKey: privateKeyOf(fields) }),
  ],
  [
    PREFIXES.ledger,
    (fields: Fields): KeyRecord => ({ ...common(fields), type: "ledger", path: readPath(readFields(fields.bytes(3))) }),
  ],
  [PREFIXES.offline, (fields: Fields): KeyRecord => ({ ...common(fields), type: "offline" })],
  [PREFIXES.multi, (fields: Fields): KeyRecord => ({ ...common(fields), type: "multi" })],
]);

/** Reads a record of older tools; undefined if the bytes are not a record. Throws on a damaged one. */
export function decodeAminoRecord(data: Uint8Array): KeyRecord | undefined {
  const body = stripLength(data);
  const read = READERS.get(toHex(body?.subarray(0, PREFIX_LENGTH) ?? new Uint8Array()));
  return body === undefined || read === undefined ? undefined : read(readFields(body.subarray(PREFIX_LENGTH)));
}

const SECP256K1 = "secp256k1";

/** Writes a record as older tools do; newer ones read it as well. */
export function encodeAminoRecord(record: KeyRecord): Uint8Array {
  const body = concatBytes(fromHex(PREFIXES[record.type]), writeFields(recordFields(record)));
  return concatBytes(varint(body.length), body);
}

function recordFields(record: KeyRecord): Field[] {
  const { publicKey } = record;
  const head: Field[] = [
    [1, record.name],
    [2, encodeAminoPublicKey(publicKey)],
  ];
  switch (record.type) {
    case "local":
      return [...head, [3, concatBytes(PRIVATE_KEY_PREFIX, record.privateKey)], [4, SECP256K1]];
    case "ledger":
      return [...head, [3, encodePath(record.path)], [4, SECP256K1]];
    case "offline":
      return [...head, [3, publicKey.type]];
    case "multi":
      return publicKey.type === "multisig" ? [...head, [3, publicKey.threshold], ...members(publicKey)] : head;
  }
}

/** Each member with its weight, which is always 1. */
function members({ keys }: MultisigPublicKey): Field[] {
  return keys.map(
    (key): Field => [
      4,
      writeFields([
        [1, encodeAminoPublicKey(key)],
        [2, 1],
      ]),
    ],
  );
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Uint8Array.from([...bytes, rest]);
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

/** The bytes after a varint that must be their number. */
function stripLength(data: Uint8Array): Uint8Array | undefined {
  let length = 0;
  for (let i = 0; i < Math.min(data.length, 4); i++) {
    const byte = data[i] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return data.length - i - 1 === length ? data.subarray(i + 1) : undefined;
  }
  return undefined;
}
