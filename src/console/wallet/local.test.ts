import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { transfer } from "../../../test/support/signer.ts";
import { offlineTx } from "../../client/index.ts";
import { decryptKeyArmor, encryptKeyArmor, verifySecp256k1 } from "../../crypto/index.ts";
import { testKey } from "../../testing/index.ts";
import { toHex, toUtf8 } from "../../util/index.ts";
import { decodeTx, directSignBytes, encodeAddress, publicKeyAddress } from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";
import { FORGET_MS, keyOfArmor, keyOfPhrase, LocalWallet } from "./local.ts";
import { type Derive, deriveKey, KDF_COST, readSealedKeys, sealKey } from "./sealed.ts";

const CHAIN = "svc-test-1";
const PASSPHRASE = "correct horse";
const anna = testKey("anna");
/** A cheap derivation: the cost of a guess is tested by its constants. */
const derive: Derive = async ({ passphrase, salt }) => deriveKey({ passphrase, salt, cost: { memory: 8, passes: 1 } });
const seal = (passphrase = PASSPHRASE) => sealKey(anna.privateKey, { name: "savings", passphrase, derive });
const open = async () => new LocalWallet(await seal(), { chainId: CHAIN, derive });
const tx = (chainId = CHAIN) =>
  offlineTx([transfer(anna.address, anna.address, 1n)], { chainId, accountNumber: 7n, sequence: 3n });

describe("a stored key", () => {
  it("costs what is recommended for passphrases, and holds the private key nowhere", async () => {
    const sealed = await seal();
    expect(KDF_COST).toEqual({ memory: 19 * 1024, passes: 2 });
    expect(sealed).toMatchObject({ version: 1, address: anna.address, cost: KDF_COST });
    const all = Object.values(sealed).map((value) => (value instanceof Uint8Array ? toHex(value) : ""));
    expect(all.join(" ")).not.toContain(toHex(anna.privateKey));
    expect(readSealedKeys(structuredClone([sealed]))).toEqual([sealed]);
  });

  it("opens with its passphrase alone, and only unchanged", async () => {
    const sealed = await seal();
    const unlock = (record: typeof sealed, passphrase: string) =>
      new LocalWallet(record, { chainId: CHAIN, derive }).unlock(passphrase);
    await unlock(sealed, PASSPHRASE);
    const wrong = { codespace: "wallet", code: walletErrors.passphrase.code };
    await expect(unlock(sealed, "correct hors")).rejects.toMatchObject(wrong);
    await expect(unlock({ ...sealed, address: testKey("berta").address }, PASSPHRASE)).rejects.toMatchObject(wrong);
    await expect(unlock({ ...sealed, sealed: sealed.sealed.with(3, 1) }, PASSPHRASE)).rejects.toMatchObject(wrong);
  });

  it("needs a passphrase of eight characters", async () => {
    await expect(seal("1234567")).rejects.toMatchObject({ code: walletErrors.weak.code });
  });

  it("is refused where its record asks for all memory, or is no record", async () => {
    const sealed = await seal();
    const greedy = { ...sealed, cost: { memory: 2 ** 24, passes: 1 } };
    for (const record of [greedy, {}, null]) expect(() => readSealedKeys([record])).toThrow(/cannot be read/);
    expect(readSealedKeys([greedy, sealed, null])).toEqual([sealed]);
  });
});

describe("a key in the browser", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("signs transactions and texts while it is unlocked", async () => {
    const wallet = await open();
    expect(wallet).toMatchObject({ kind: "local", name: "savings", address: anna.address, lacks: {} });
    await expect(wallet.signTx(tx())).rejects.toMatchObject({ code: walletErrors.locked.code });
    await wallet.unlock(PASSPHRASE);
    const { raw } = decodeTx(await wallet.signTx(tx()));
    const signed = directSignBytes(raw, { chainId: CHAIN, accountNumber: 7n });
    expect(verifySecp256k1(wallet.publicKey.key, signed, raw.signatures[0] ?? new Uint8Array())).toBe(true);
    expect(wallet.text.algorithm).toBe("ES256K");
    const text = toUtf8("a text");
    expect(verifySecp256k1(wallet.publicKey.key, text, await wallet.text.sign(text))).toBe(true);
  });

  it("signs for no other chain", async () => {
    const wallet = await open();
    await wallet.unlock(PASSPHRASE);
    await expect(wallet.signTx(tx("other-1"))).rejects.toMatchObject({ code: walletErrors.otherChain.code });
  });

  it("is forgotten after a quarter of an hour without a signature", async () => {
    const wallet = await open();
    const told: boolean[] = [];
    wallet.onChange(() => told.push(wallet.isLocked));
    await wallet.unlock(PASSPHRASE);
    vi.advanceTimersByTime(FORGET_MS - 1);
    await wallet.signTx(tx());
    vi.advanceTimersByTime(FORGET_MS - 1);
    expect(wallet.isLocked).toBe(false);
    vi.advanceTimersByTime(1);
    expect([wallet.isLocked, told]).toEqual([true, [false, true]]);
    await expect(wallet.signTx(tx())).rejects.toMatchObject({ code: walletErrors.locked.code });
  });

  it("is forgotten by a machine that has slept, whose timers did not run", async () => {
    const wallet = await open();
    await wallet.unlock(PASSPHRASE);
    vi.setSystemTime(Date.now() + FORGET_MS);
    await expect(wallet.text.sign(toUtf8("x"))).rejects.toMatchObject({ code: walletErrors.locked.code });
  });

  it("leaves as an armor for its passphrase only", async () => {
    vi.useRealTimers();
    const wallet = await open();
    await wallet.unlock(PASSPHRASE);
    await expect(wallet.exportArmor("another one", "for the file")).rejects.toMatchObject({
      code: walletErrors.passphrase.code,
    });
    const armor = await wallet.exportArmor(PASSPHRASE, "for the file");
    expect(toHex(await decryptKeyArmor(armor, "for the file"))).toBe(toHex(anna.privateKey));
  });
});

describe("a key from elsewhere", () => {
  it("is a recovery phrase, at the path of accounts", async () => {
    const phrase = `${"abandon ".repeat(11)}about`;
    const wallet = new LocalWallet(
      await sealKey(await keyOfPhrase(phrase), { name: "", passphrase: PASSPHRASE, derive }),
      {
        chainId: CHAIN,
        derive,
      },
    );
    // The address that wallets of the ecosystem show for it.
    const address = encodeAddress(publicKeyAddress(wallet.publicKey), "account", "cosmos");
    expect(address).toBe("cosmos19rl4cm2hmr8afy4kldpxz3fka4jguq0auqdal4");
    await expect(keyOfPhrase("abandon abandon")).rejects.toThrow("invalid mnemonic");
  });

  it("is an armor of the command line", async () => {
    const armor = await encryptKeyArmor(anna.privateKey, "for the file");
    expect(toHex(await keyOfArmor(armor, "for the file"))).toBe(toHex(anna.privateKey));
  });
});
