import fc from "fast-check";
import { describe, expect, test } from "vitest";
import vectors from "../../../test/vectors/armor.json" with { type: "json" };
import { toHex } from "../../util/index.ts";
import { generatePrivateKey } from "../secp256k1/secp256k1.ts";
import { decodeArmor, encodeArmor } from "./ascii.ts";
import { decryptKeyArmor, encryptKeyArmor } from "./key.ts";

const [first] = vectors.items;
const armor = first?.armor ?? "";

describe("ASCII armor", () => {
  test("what is written reads back", () => {
    const headers = new Map([["kdf", "bcrypt"]]);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (body) => {
        const block = decodeArmor(encodeArmor({ type: "TENDERMINT PRIVATE KEY", headers, body }));
        expect(toHex(block.body)).toBe(toHex(body));
        expect(block.headers).toEqual(headers);
      }),
    );
  });

  test("a recorded block is written again byte by byte", () => {
    expect(`${encodeArmor(decodeArmor(armor))}\n`).toBe(armor);
  });

  test("CRLF and text before the block do not matter", () => {
    expect(decodeArmor(`see below\r\n${armor.replaceAll("\n", "\r\n")}`)).toEqual(decodeArmor(armor));
  });

  test.each([
    ["no begin line", armor.replace("BEGIN", "START"), 'no line "-----BEGIN'],
    ["no end line", armor.replace("-----END", "-----FIN"), 'no line "-----END'],
    ["a second block", armor + armor, "text after the end"],
    ["a damaged checksum", armor.replace("=1kDs", "=1kDt"), "checksum does not match"],
    ["no checksum", armor.replace("=1kDs\n", ""), "no checksum line"],
    ["damaged data", armor.replace("Amfag1", "Amfag2"), "checksum does not match"],
    ["foreign characters", armor.replace("Amfag1", "Am!ag1"), "not base64"],
    ["a header twice", armor.replace("kdf: bcrypt", "kdf: bcrypt\nkdf: argon2"), 'header "kdf" twice'],
    ["a malformed header", armor.replace("kdf: bcrypt", "kdf bcrypt"), "not"],
    ["no empty line", armor.replace("\n\n", "\n"), "no empty line"],
    ["too much text", "x".repeat(70_000), "larger than 64 KiB"],
  ])("%s is refused", (_, text, message) => {
    expect(() => decodeArmor(text)).toThrow(message);
  });
});

describe("armored private keys", () => {
  test.each(vectors.items)("recorded $kdf armor opens", async ({ armor, passphrase, privateKey }) => {
    expect(toHex(await decryptKeyArmor(armor, passphrase))).toBe(privateKey);
  });

  test.each(vectors.items.slice(-2))("a wrong passphrase for $kdf is error 23", async ({ armor }) => {
    await expect(decryptKeyArmor(armor, "wrong-passphrase")).rejects.toMatchObject({ codespace: "sdk", code: 23 });
  });

  test("a new export opens with its passphrase only", async () => {
    const key = generatePrivateKey();
    const text = await encryptKeyArmor(key, "export-pass");
    expect(text).toMatch(
      /^-----BEGIN TENDERMINT PRIVATE KEY-----\nkdf: bcrypt\nsalt: [0-9A-F]{32}\ntype: secp256k1\n\n/,
    );
    expect(toHex(await decryptKeyArmor(text, "export-pass"))).toBe(toHex(key));
    await expect(decryptKeyArmor(text, "export-pasS")).rejects.toThrow("invalid account password");
  });

  test.each([
    ["TENDERMINT PRIVATE", "TENDERMINT PUBLIC", "unrecognized armor type: TENDERMINT PUBLIC KEY"],
    ["kdf: bcrypt", "kdf: constructor", "unrecognized KDF type: constructor"],
    ["salt: AC2FFBDF22E799A152B9B0AD14E6968C\n", "", "missing salt bytes"],
    ["salt: AC2FFBDF22E799A152B9B0AD14E6968C", "salt: xyz", "error decoding salt"],
    ["type: secp256k1", "type: sr25519", "not supported"],
  ])("%s changed to %j is refused", async (from, to, message) => {
    await expect(decryptKeyArmor(armor.replaceAll(from, to), "exportpw-123")).rejects.toThrow(message);
  });

  test("no passphrase that bcrypt would cut is accepted for writing", async () => {
    await expect(encryptKeyArmor(generatePrivateKey(), "ü".repeat(37))).rejects.toThrow("longer than 72 bytes");
  });
});
