import { describe, expect, it } from "vitest";
import { EmulatedDevice, serveTcp } from "../../../test/support/ledger/index.ts";
import { verifySecp256k1 } from "../../crypto/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { decodeTx, packAny, SignMode, signBytes } from "../../wire/index.ts";
import { offlineTx, signTx } from "../index.ts";
import { confirmedLedgerKey, fixedPassphrase, type Keyring, keyringSigner, openKeyring } from "../keyring.ts";

const SIGNED = { chainId: "dev-1", accountNumber: 6n, sequence: 1n } as const;

function memory(): Keyring {
  return openKeyring({ backend: "memory", dir: "", passphrase: fixedPassphrase(""), notify: () => {} });
}

describe("a key of a keyring as a signer", () => {
  it("signs with its own private key, under the network's address", async () => {
    const keyring = memory();
    const { publicKey } = await keyring.addLocal("me", new Uint8Array(32).fill(9));
    const signer = await keyringSigner(keyring, "me", { prefix: "cosmos" });
    expect(signer).toMatchObject({ publicKey, address: expect.stringMatching(/^cosmos1/) });
    const message = packAny(MsgSendSchema, { fromAddress: signer.address, toAddress: signer.address });
    const { raw } = decodeTx(await signTx(offlineTx([message], SIGNED), signer));
    const covered = signBytes(SignMode.DIRECT, raw, SIGNED);
    const [signature = new Uint8Array()] = raw.signatures;
    expect(publicKey.type === "secp256k1" && verifySecp256k1(publicKey.key, covered, signature)).toBe(true);
    await expect(keyringSigner(keyring, "nobody")).rejects.toThrow(/key not found/);
  });

  it("signs on its hardware device, in amino JSON alone", async () => {
    const server = await serveTcp(new EmulatedDevice());
    try {
      const keyring = memory();
      const told: string[] = [];
      const ledger = { transport: server.url, notify: (text: string) => void told.push(text) };
      const path = { purpose: 44, coinType: 118, account: 0, change: false, index: 0 };
      await keyring.addLedger("cold", await confirmedLedgerKey(ledger, path), path);
      const signer = await keyringSigner(keyring, "cold", { ledger });
      const message = packAny(MsgSendSchema, { fromAddress: signer.address, toAddress: signer.address });
      const amino = offlineTx([message], { ...SIGNED, signMode: SignMode.LEGACY_AMINO_JSON });
      expect(decodeTx(await signTx(amino, signer)).raw.signatures[0]).toHaveLength(64);
      expect(told.at(-1)).toBe("confirm the transaction on the hardware device");
      await expect(signTx(offlineTx([message], SIGNED), signer)).rejects.toThrow(/mode amino-json/);
      await expect(signTx(amino, await keyringSigner(keyring, "cold"))).rejects.toThrow();
    } finally {
      await server.close();
    }
  });
});
