import { describe, expect, test } from "vitest";
import vectors from "../../../test/vectors/keys.json" with { type: "json" };
import { toHex } from "../../util/index.ts";
import { bip44Path, derivePrivateKey, generateMnemonic, isMnemonic, mnemonicToSeed, parseHdPath } from "./mnemonic.ts";

const ZEROS = `${"abandon ".repeat(23)}art`;

function pathOf(flags: Readonly<Record<string, string | undefined>>): string {
  const number = (flag: string, standard: number): number => Number(flags[flag] ?? standard);
  const numbers = {
    coinType: number("--coin-type", 118),
    account: number("--account", 0),
    index: number("--index", 0),
  };
  return flags["--hd-path"] ?? bip44Path(numbers);
}

describe("phrases and derivation", () => {
  test.each(vectors.keys)("recorded key $name", async (key) => {
    const seed = await mnemonicToSeed(key.mnemonic, key.passphrase);
    expect(toHex(await derivePrivateKey(seed, pathOf(key.flags)))).toBe(key.privateKey);
  });

  test("a new phrase has 24 words, is valid and differs from the next", async () => {
    const phrase = await generateMnemonic();
    expect(phrase.split(" ")).toHaveLength(24);
    expect(await isMnemonic(phrase)).toBe(true);
    expect(await generateMnemonic()).not.toBe(phrase);
  });

  test("known entropy gives the published phrase and seed", async () => {
    expect(await generateMnemonic(new Uint8Array(32))).toBe(ZEROS);
    expect(toHex(await mnemonicToSeed(ZEROS, "TREZOR"))).toMatch(/^bda85446c68413707090a52022edd26a/);
  });

  test("case and spacing do not matter; words, count and checksum do", async () => {
    const typed = `  ${ZEROS.toUpperCase().replaceAll(" ", "  ")}\n`;
    expect(toHex(await mnemonicToSeed(typed))).toBe(toHex(await mnemonicToSeed(ZEROS)));
    const wrong = ["", "abandon", ZEROS.replace("art", "zoo"), `${ZEROS} art`, ZEROS.replace("art", "svc")];
    for (const phrase of wrong) await expect(mnemonicToSeed(phrase)).rejects.toThrow(/^invalid mnemonic$/);
  });
});

describe("paths", () => {
  test("absolute, relative, trailing slash, any depth", () => {
    const standard = [44 + 0x80000000, 118 + 0x80000000, 0x80000000, 0, 0];
    expect(parseHdPath("m/44'/118'/0'/0/0")).toEqual(standard);
    expect(parseHdPath("44'/118'/0'/0/0/")).toEqual(standard);
    expect(parseHdPath("44/118")).toEqual([44, 118]);
  });

  test.each([
    ["abc", "path 'abc' doesn't contain '/' separators"],
    ["m", "path 'm' doesn't contain '/' separators"],
    ["m/44h/1", "invalid BIP 32 path m/44h/1"],
    ["m/2147483648/1", "not a number below 2^31"],
    ["m//1", "invalid BIP 32 path"],
    [`m${"/1".repeat(300)}`, "more than 255 levels"],
  ])("%s is refused", (path, message) => {
    expect(() => parseHdPath(path)).toThrow(message);
  });
});
