import fc from "fast-check";
import { expect, test } from "vitest";
import vectors from "../../../test/vectors/keyring-dirs.json" with { type: "json" };
import { generatePrivateKey, publicKeyOf } from "../../crypto/index.ts";
import { concatBytes, fromHex, toHex, toUtf8 } from "../../util/index.ts";
import { encodeAminoPublicKey, multisigPublicKey, secp256k1PublicKey } from "../../wire/index.ts";
import { decryptItem } from "../jwe.ts";
import type { KeyRecord } from "../types.ts";
import { decodeAminoRecord, encodeAminoRecord } from "./amino.ts";
import { decodeRecord, encodeRecord } from "./proto.ts";

const privateKey = fromHex("01".repeat(32));
const publicKey = secp256k1PublicKey(publicKeyOf(privateKey));
const path = { purpose: 44, coinType: 118, account: 1, change: true, index: 0xffff_fff0 };
const records: readonly KeyRecord[] = [
  { type: "local", name: "alice", publicKey, privateKey },
  { type: "ledger", name: "device", publicKey, path },
  { type: "offline", name: "validator", publicKey: { type: "ed25519", key: fromHex("02".repeat(32)) } },
  {
    type: "multi",
    name: "both",
    publicKey: multisigPublicKey(2, [publicKey, secp256k1PublicKey(publicKeyOf(generatePrivateKey()))]),
  },
];

const ITEM_FLAGS = {
  Label: "",
  Description: "",
  KeychainNotTrustApplication: false,
  KeychainNotSynchronizable: false,
};

/** Plain arrays instead of views, so that contents are compared. */
const plain = (record: KeyRecord | undefined): unknown =>
  JSON.parse(
    JSON.stringify(record, (_, value) =>
      value?.type === "Buffer" ? value.data : value instanceof Uint8Array ? [...value] : value,
    ),
  );

test.each(records)("a $type record reads back", (record) => {
  expect(plain(decodeRecord(encodeRecord(record)))).toEqual(plain(record));
});

test("a local record has the recorded layout", () => {
  const urls = ["/cosmos.crypto.secp256k1.PubKey", "/cosmos.crypto.secp256k1.PrivKey"].map((url) => toHex(toUtf8(url)));
  const key = toHex(publicKey.key);
  const expected = `0a05616c696365${"1246"}0a1f${urls[0]}12230a21${key}${"1a48"}0a460a20${urls[1]}12220a20${"01".repeat(32)}`;
  const [record] = records;
  if (record !== undefined) expect(toHex(encodeRecord(record))).toBe(expected);
});

test.each(Object.entries(vectors.proto.test.files).filter(([name]) => name.endsWith(".info")))(
  "the recorded %s of another tool is written byte by byte",
  async (name, text) => {
    const item = JSON.parse(Buffer.from(await decryptItem(text, "test")).toString());
    const data = Buffer.from(item.Data, "base64");
    expect(toHex(encodeRecord(decodeRecord(data)))).toBe(toHex(data));
    expect(item).toEqual({ ...ITEM_FLAGS, Key: name, Data: item.Data });
  },
);

test.each(Object.entries(vectors.amino.test.files).filter(([name]) => name.endsWith(".info")))(
  "the recorded %s of an older tool is written byte by byte",
  async (_, text) => {
    const item = JSON.parse(Buffer.from(await decryptItem(text, "test")).toString());
    const data = Buffer.from(item.Data, "base64");
    const stored = decodeAminoRecord(data);
    expect(stored === undefined ? "" : toHex(encodeAminoRecord(stored))).toBe(toHex(data));
  },
);

test.each(records)("a $type record reads back in the older form", (record) => {
  expect(plain(decodeAminoRecord(encodeAminoRecord(record)))).toEqual(plain(record));
});

test("hardware, offline and multisig records of older tools", () => {
  const bytes = (field: number, content: Uint8Array): Uint8Array =>
    concatBytes(Uint8Array.of(field * 8 + 2), varint(content.length), content);
  const amino = (prefix: string, ...fields: Uint8Array[]): Uint8Array => {
    const body = concatBytes(fromHex(prefix), ...fields);
    return concatBytes(varint(body.length), body);
  };
  const common = (name: string): Uint8Array[] => [bytes(1, toUtf8(name)), bytes(2, encodeAminoPublicKey(publicKey))];
  const numbers = fromHex("082c107618012001");
  expect(decodeAminoRecord(amino("a08cb0fb", ...common("device"), bytes(3, numbers)))).toMatchObject({
    type: "ledger",
    name: "device",
    path: { purpose: 44, coinType: 118, account: 1, change: true, index: 0 },
  });
  expect(decodeAminoRecord(amino("1f4d3ed6", ...common("v")))).toMatchObject({ type: "offline", name: "v" });
  expect(decodeAminoRecord(amino("34878fb8", ...common("m")))).toMatchObject({ type: "multi", name: "m" });
  expect(decodeAminoRecord(amino("00000000", ...common("m")))).toBeUndefined();
});

test("garbage is refused, never misread", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 120 }), (data) => {
      expect(decodeAminoRecord(data)).toBeUndefined();
      expect(() => decodeRecord(data)).toThrow();
    }),
  );
});

function varint(value: number): Uint8Array {
  return value < 0x80 ? Uint8Array.of(value) : Uint8Array.of((value & 0x7f) | 0x80, value >> 7);
}
