import { describe, expect, it } from "vitest";
import vectors from "../../../test/vectors/keys.json" with { type: "json" };
import { verifySecp256k1 } from "../../crypto/index.ts";
import { fromHex } from "../../util/index.ts";
import { SignMode } from "../../wire/index.ts";
import { mnemonicSigner, privateKeySigner } from "../index.ts";

const words = vectors.keys.filter(({ name }) => ["k0", "k5"].includes(name));

describe("signers in memory", () => {
  it.each(words)("have the recorded address of $name", async ({ mnemonic, address, privateKey }) => {
    const signer = await mnemonicSigner(mnemonic, { prefix: "cosmos" });
    expect(signer.address).toBe(address);
    expect(privateKeySigner(fromHex(privateKey), "cosmos")).toMatchObject({ address, publicKey: signer.publicKey });
    const bytes = new Uint8Array([1, 2, 3]);
    const signature = await signer.sign(bytes, SignMode.DIRECT);
    expect(signer.publicKey.type === "secp256k1" && verifySecp256k1(signer.publicKey.key, bytes, signature)).toBe(true);
  });

  it("depend on path and second factor", async () => {
    const mnemonic = words[0]?.mnemonic ?? "";
    const signers = [{}, { path: "m/44'/118'/0'/0/1" }, { passphrase: "x" }].map((each) =>
      mnemonicSigner(mnemonic, each),
    );
    const addresses = (await Promise.all(signers)).map(({ address }) => address);
    expect(new Set(addresses).size).toBe(3);
    expect(addresses[0]).toMatch(/^svc1/);
  });

  it("are refused without showing the secret", async () => {
    await expect(mnemonicSigner("ride habit elegant")).rejects.toThrow(/^invalid mnemonic$/);
    expect(() => privateKeySigner(new Uint8Array(32))).toThrow(/^invalid secp256k1 private key/);
  });
});
