import { describe, expect, it } from "vitest";
import { transfer } from "../../../test/support/signer.ts";
import { offlineTx, privateKeySigner } from "../../client/index.ts";
import { testKey } from "../../testing/index.ts";
import { fromBase64, toBase64, toUtf8 } from "../../util/index.ts";
import { decodeTx, directSignBytes, SignMode } from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";
import { type KeyringParts, keyringWallet } from "./keyring.ts";

const CHAIN = "svc-test-1";
const anna = testKey("anna");
const tx = (chainId = CHAIN) =>
  offlineTx([transfer(anna.address, anna.address, 1n)], { chainId, accountNumber: 7n, sequence: 3n });

/** The document of a call to the server. */
interface Asked {
  readonly account: string;
  readonly signDoc: Readonly<Record<"bodyBytes" | "authInfoBytes" | "chainId" | "accountNumber", string>>;
}

const signer = privateKeySigner(anna.privateKey);
const { publicKey } = signer;
const key = {
  name: "anna",
  address: anna.address,
  publicKey: toBase64("key" in publicKey ? publicKey.key : toUtf8("")),
};

async function signature({ signDoc }: Asked): Promise<object> {
  const parts = { bodyBytes: fromBase64(signDoc.bodyBytes), authInfoBytes: fromBase64(signDoc.authInfoBytes) };
  const place = { chainId: signDoc.chainId, accountNumber: BigInt(signDoc.accountNumber) };
  return { signature: toBase64(await signer.sign(directSignBytes(parts, place), SignMode.DIRECT)) };
}

function open(answer: (body: Asked) => Promise<unknown>) {
  const calls: string[] = [];
  const call: KeyringParts["call"] = (path, body) => {
    calls.push(path);
    return answer(JSON.parse(JSON.stringify(body)));
  };
  return { wallet: keyringWallet(key, { chainId: CHAIN, call }), calls };
}

describe("a key of the keyring", () => {
  it("signs the document of the transaction, as its account", async () => {
    const { wallet, calls } = open(async (body) => {
      expect(body).toMatchObject({ account: anna.address, signDoc: { chainId: CHAIN, accountNumber: "7" } });
      return signature(body);
    });
    expect(decodeTx(await wallet.signTx(tx())).raw.signatures).toHaveLength(1);
    expect(calls).toEqual(["sign"]);
  });

  it("asks nothing about a transaction of another chain", async () => {
    const { wallet, calls } = open(signature);
    await expect(wallet.signTx(tx("other-1"))).rejects.toMatchObject({ code: walletErrors.otherChain.code });
    expect(calls).toEqual([]);
  });

  it.each<[string, (body: Asked) => Promise<unknown>, number]>([
    ["without a signature", async () => ({}), walletErrors.badAnswer.code],
    [
      "with the signature of another transaction",
      ({ account, signDoc }) => signature({ account, signDoc: { ...signDoc, accountNumber: "8" } }),
      walletErrors.signedOther.code,
    ],
  ])("takes no answer %s", async (_, answer, code) => {
    await expect(open(answer).wallet.signTx(tx())).rejects.toMatchObject({ codespace: "wallet", code });
  });

  it("passes on the server's sentence, and signs the text of a session", async () => {
    const refused = open(() => Promise.reject(new Error("refused at the terminal")));
    await expect(refused.wallet.signTx(tx())).rejects.toThrow("refused at the terminal");
    const { wallet, calls } = open(async (body) => {
      expect(body).toEqual({ account: anna.address, input: "a.b" });
      return { signature: "AQID" };
    });
    expect(toBase64((await wallet.text?.sign(toUtf8("a.b"))) ?? toUtf8(""))).toBe("AQID");
    expect(calls).toEqual(["sign/session"]);
  });
});
