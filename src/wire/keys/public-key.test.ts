import { describe, expect, test } from "vitest";
import vectors from "../../../test/vectors/keys.json" with { type: "json" };
import { publicKeyOf } from "../../crypto/index.ts";
import { fromHex, toHex } from "../../util/index.ts";
import { encodeAddress } from "../address.ts";
import {
  decodeAminoPublicKey,
  decodePublicKey,
  encodeAminoPublicKey,
  encodePublicKey,
  multisigPublicKey,
  publicKeyAddress,
  type SinglePublicKey,
  secp256k1PublicKey,
  sortByAddress,
} from "./public-key.ts";

const NETWORK = "cosmos";

function recorded(name: string): SinglePublicKey {
  const key = vectors.keys.find((candidate) => candidate.name === name);
  return secp256k1PublicKey(publicKeyOf(fromHex(key?.privateKey ?? "")));
}

describe("public keys", () => {
  test.each(vectors.keys)("recorded texts of $name", (key) => {
    const publicKey = recorded(key.name);
    expect(encodePublicKey(publicKey, "accountPub", NETWORK)).toBe(key.pubkey);
    expect(decodePublicKey(key.pubkey, "accountPub", NETWORK)).toEqual(publicKey);
    const address = publicKeyAddress(publicKey);
    expect(encodeAddress(address, "account", NETWORK)).toBe(key.address);
    if (key.valoper === undefined) return;
    expect(encodeAddress(address, "valoper", NETWORK)).toBe(key.valoper);
    expect(encodeAddress(address, "valcons", NETWORK)).toBe(key.valcons);
    expect(encodePublicKey(publicKey, "valoperPub", NETWORK)).toBe(key.valoperpub);
    expect(encodePublicKey(publicKey, "valconsPub", NETWORK)).toBe(key.valconspub);
  });

  test.each(vectors.multisig)("recorded multisig $name", ({ members, threshold, nosort, address, pubkey }) => {
    const given = members.map(recorded);
    const key = multisigPublicKey(threshold, nosort ? given : sortByAddress(given));
    expect(encodeAddress(publicKeyAddress(key), "account", NETWORK)).toBe(address);
    expect(encodePublicKey(key, "accountPub", NETWORK)).toBe(pubkey);
    expect(encodePublicKey(decodePublicKey(pubkey, "accountPub", NETWORK), "accountPub", NETWORK)).toBe(pubkey);
  });

  test("consensus keys have their own beginning", () => {
    const key = { type: "ed25519", key: new Uint8Array(32) } as const;
    expect(encodePublicKey(key, "valconsPub", NETWORK)).toMatch(/^cosmosvalconspub1zcjduepq/);
    expect(decodeAminoPublicKey(encodeAminoPublicKey(key))).toEqual({ ...key, key: Buffer.from(key.key) });
  });

  test("thresholds that cannot be met are refused", () => {
    const keys = [recorded("k0"), recorded("k5")];
    expect(() => multisigPublicKey(0, keys)).toThrow("threshold must be a positive integer");
    expect(() => multisigPublicKey(3, keys)).toThrow("threshold k of n multisignature: 2 < 3");
  });

  test("cut, longer, foreign and second encodings are refused", () => {
    const multisig = toHex(encodeAminoPublicKey(multisigPublicKey(1, [recorded("k0")])));
    const single = toHex(encodeAminoPublicKey(recorded("k0")));
    const redundant = multisig.replace("22c1f7e20801", "22c1f7e2088100");
    for (const bad of [
      "",
      single.slice(2),
      single.slice(0, -2),
      `${single}00`,
      redundant,
      `${multisig}1a00`,
      "22c1f7e2",
    ]) {
      expect(() => decodeAminoPublicKey(fromHex(bad))).toThrow("invalid pubkey");
    }
  });
});
