import { describe, expect, it } from "vitest";
import { type DeviceSettings, EmulatedDevice, OTHER_PHRASE, WebHidDouble } from "../../../test/support/ledger/index.ts";
import { transfer } from "../../../test/support/signer.ts";
import { offlineTx } from "../../client/index.ts";
import { ledgerErrors } from "../../keyring/index.ts";
import { testKey } from "../../testing/index.ts";
import { decodeTx, publicKeyFromAny, SignMode, verifySignature } from "../../wire/index.ts";
import { walletErrors } from "../wallet/errors.ts";
import { foundHid } from "./hid.ts";
import { connectLedger } from "./wallet.ts";

const CHAIN = "svc-test-1";
const SIGNER = { chainId: CHAIN, accountNumber: 7n, sequence: 3n };

async function connected(settings: Partial<DeviceSettings> = {}, account = "0") {
  const device = new EmulatedDevice(settings);
  const hid = new WebHidDouble(device);
  return { device, hid, wallet: await connectLedger(hid, { chainId: CHAIN, account }) };
}

function prepared(from: string, signer = SIGNER) {
  const fees = [{ denom: "utoken", amount: 500n }];
  return offlineTx([transfer(from, testKey("berta").address, 5n)], { ...signer, memo: "lunch", fees });
}

describe("a hardware device", () => {
  it("is asked for its account without a question, and closed again", async () => {
    const { device, hid, wallet } = await connected();
    expect(wallet).toMatchObject({ kind: "ledger", name: "Nano X", chainId: CHAIN, text: undefined });
    expect(wallet.lacks).toEqual({ text: "onlyTransactions" });
    expect([device.screens, hid.opened]).toEqual([[], false]);
    expect((await connected({}, "1")).wallet.address).not.toBe(wallet.address);
  });

  it.each(["", "-1", "1.5", "101", "1e1", "0x1"])("has no account %j", async (account) => {
    await expect(connected({}, account)).rejects.toThrow("from 0 to 100");
  });

  it("signs a transaction in amino JSON after it has shown it", async () => {
    const { device, hid, wallet } = await connected({ highS: true });
    const bytes = await wallet.signTx(prepared(wallet.address));
    const tx = decodeTx(bytes);
    const [info] = tx.authInfo.signerInfos;
    const [signature] = tx.raw.signatures;
    if (info?.publicKey === undefined || signature === undefined) throw new Error("the transaction is not signed");
    const key = publicKeyFromAny(info.publicKey);
    expect(key).toEqual(wallet.publicKey);
    expect(info.modeInfo?.sum).toMatchObject({ value: { mode: SignMode.LEGACY_AMINO_JSON } });
    const signable = { bodyBytes: tx.raw.bodyBytes, authInfoBytes: tx.raw.authInfoBytes, decoded: tx };
    expect(verifySignature(signable, key, { modeInfo: info.modeInfo, signature, signer: SIGNER })).toBe(true);
    expect(device.screens).toEqual([expect.stringContaining('"memo":"lunch"')]);
    expect(hid.opened).toBe(false);
  });

  it("says why it does not sign, and is closed", async () => {
    const { device, hid, wallet } = await connected();
    const refusal = async (settings: Partial<DeviceSettings>) => {
      Object.assign(device.settings, settings);
      return wallet.signTx(prepared(wallet.address)).then(
        () => "signed",
        (error) => error.code,
      );
    };
    expect(await refusal({ decide: () => false })).toBe(ledgerErrors.refused.code);
    expect(await refusal({ openApp: "Bitcoin" })).toBe(ledgerErrors.wrongApp.code);
    expect(await refusal({ locked: true })).toBe(ledgerErrors.locked.code);
    expect(await refusal({ locked: false, openApp: "Cosmos", phrase: OTHER_PHRASE })).toBe(ledgerErrors.otherKey.code);
    expect(await refusal({ fault: () => "disconnect" })).toBe(ledgerErrors.disconnected.code);
    expect(hid.opened).toBe(false);
    await hid.open();
    expect(await refusal({})).toBe(ledgerErrors.notOpened.code);
    await hid.close();
  });

  it("signs for no other chain, and is nothing that the user did not choose", async () => {
    const { device, hid, wallet } = await connected();
    const other = prepared(wallet.address, { ...SIGNER, chainId: "svc-2" });
    await expect(wallet.signTx(other)).rejects.toMatchObject({ code: walletErrors.otherChain.code });
    expect(device.screens).toEqual([]);
    hid.isChosen = false;
    const request = { chainId: CHAIN, account: "0" };
    await expect(connectLedger(hid, request)).rejects.toMatchObject({ code: ledgerErrors.notFound.code });
    expect([foundHid({}), foundHid({ hid: 7 }), foundHid({ hid })]).toEqual([undefined, undefined, hid]);
  });
});
