import { describe, expect, it } from "vitest";
import { KeplrDouble, type KeplrSwitches } from "../../../test/support/console/keplr.ts";
import { transfer } from "../../../test/support/signer.ts";
import { offlineTx, type PreparedTx } from "../../client/index.ts";
import { openSession, sessionSigner, signToken, verifyToken } from "../../crypto/index.ts";
import { testKey } from "../../testing/index.ts";
import { toUtf8 } from "../../util/index.ts";
import { decodeTx, publicKeyFromAny, SignMode, verifySignature } from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";
import { connectExtension } from "./extension.ts";
import { foundExtensions } from "./found.ts";
import { addressWallet, type Wallet } from "./wallet.ts";

const CHAIN = "svc-test-1";
const [anna, berta] = [testKey("anna"), testKey("berta")];
const SIGNER = { chainId: CHAIN, accountNumber: 7n, sequence: 3n };

function connect(double: KeplrDouble, chainId = CHAIN): Promise<Wallet> {
  const host = { globals: { keplr: double }, events: double };
  return connectExtension(host, { name: "keplr", chainId, info: { chainId: CHAIN } });
}

async function connected(switches: KeplrSwitches = {}) {
  const double = new KeplrDouble(anna, switches);
  return { double, wallet: await connect(double) };
}

function prepared(options: Partial<Parameters<typeof offlineTx>[1]> = {}): PreparedTx {
  const fees = [{ denom: "utoken", amount: 500n }];
  return offlineTx([transfer(anna.address, berta.address, 5n)], { ...SIGNER, memo: "lunch", fees, ...options });
}

/** Memo and fee of a transaction that the chain would take from the account. */
function accepted(bytes: Uint8Array): { memo: string; fee: string | undefined } {
  const tx = decodeTx(bytes);
  const [info] = tx.authInfo.signerInfos;
  const [signature] = tx.raw.signatures;
  if (info?.publicKey === undefined || signature === undefined) throw new Error("the transaction is not signed");
  const signable = { bodyBytes: tx.raw.bodyBytes, authInfoBytes: tx.raw.authInfoBytes, decoded: tx };
  const key = publicKeyFromAny(info.publicKey);
  expect(key).toEqual(anna.publicKey);
  expect(verifySignature(signable, key, { modeInfo: info.modeInfo, signature, signer: SIGNER })).toBe(true);
  return { memo: tx.body.memo, fee: tx.authInfo.fee?.amount[0]?.amount };
}

describe("an extension", () => {
  it("is asked to know the chain before its account", async () => {
    const { double, wallet } = await connected();
    expect(double.asked).toEqual([`suggest ${CHAIN}`, `enable ${CHAIN}`, `key ${CHAIN}`, `signer ${CHAIN}`]);
    expect(wallet).toMatchObject({ kind: "extension", name: "anna", address: anna.address, lacks: {}, chainId: CHAIN });
  });

  it("may be absent", async () => {
    const host = { globals: { leap: {} }, events: new EventTarget() };
    expect(foundExtensions(host)).toEqual([]);
    const request = { name: "leap", chainId: CHAIN, info: { chainId: CHAIN } } as const;
    await expect(connectExtension(host, request)).rejects.toMatchObject({ code: walletErrors.absent.code });
    expect(foundExtensions({ globals: { leap: new KeplrDouble(anna) } })).toEqual(["leap"]);
  });

  it("that is locked, or garbles, or names a foreign address is refused with the reason", async () => {
    await expect(connected({ locked: true })).rejects.toMatchObject({ code: walletErrors.refused.code });
    await expect(connected({ garbles: true })).rejects.toThrow(/^pubKey: /);
    await expect(connected({ otherAddress: berta.address })).rejects.toMatchObject({
      code: walletErrors.otherKey.code,
    });
  });

  it("is not asked for another chain than the one shown", async () => {
    const double = new KeplrDouble(anna);
    await expect(connect(double, "other-1")).rejects.toMatchObject({ code: walletErrors.otherChain.code });
    const wallet = await connect(double);
    double.asked.length = 0;
    await expect(wallet.signTx(prepared({ chainId: "other-1" }))).rejects.toMatchObject({
      code: walletErrors.otherChain.code,
    });
    expect(double.asked).toEqual([]);
  });
});

describe.each([
  ["direct", {}],
  ["amino", { aminoOnly: true }],
] as const)("a transaction signed in mode %s", (mode, device) => {
  it("is one that the chain takes", async () => {
    const { double, wallet } = await connected(device);
    expect(wallet.signMode).toBe(mode === "direct" ? SignMode.DIRECT : SignMode.LEGACY_AMINO_JSON);
    expect(accepted(await wallet.signTx(prepared()))).toEqual({ memo: "lunch", fee: "500" });
    expect(double.asked.at(-1)).toBe(`${mode} ${CHAIN}`);
  });

  it("has the fee and memo that the owner has chosen in the wallet", async () => {
    const { wallet } = await connected({ ...device, memo: "dinner", feeAmount: "900" });
    expect(accepted(await wallet.signTx(prepared()))).toEqual({ memo: "dinner", fee: "900" });
  });

  it("may take its time", async () => {
    let confirm = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      confirm = resolve;
    });
    const { wallet } = await connected({ ...device, slow });
    const signing = wallet.signTx(prepared());
    confirm();
    expect(accepted(await signing).memo).toBe("lunch");
  });

  it.each([
    ["rejects", { rejects: true }, walletErrors.refused],
    ["signs for another chain", { otherChain: true }, walletErrors.signedOther],
    ["signs another message", { otherMessage: true }, walletErrors.signedOther],
    ["signs with an account that was chosen meanwhile", { switchTo: berta }, walletErrors.switched],
  ])("is none where the wallet %s", async (_, switches, error) => {
    const { wallet } = await connected({ ...device, ...switches });
    await expect(wallet.signTx(prepared())).rejects.toMatchObject({ codespace: "wallet", code: error.code });
  });
});

it("sends no field that it does not know", async () => {
  const { wallet } = await connected({ unknownField: true });
  await expect(wallet.signTx(prepared())).rejects.toMatchObject({ code: walletErrors.signedOther.code });
});

it.each(["-1", "1e5", "٣", "9".repeat(79)])("refuses the fee %j in amino JSON", async (feeAmount) => {
  const { wallet } = await connected({ aminoOnly: true, feeAmount });
  await expect(wallet.signTx(prepared())).rejects.toMatchObject({
    codespace: "wallet",
    code: walletErrors.badAnswer.code,
  });
});

it("refuses an answer in another form", async () => {
  const { double, wallet } = await connected();
  double.switches.garbles = true;
  await expect(wallet.signTx(prepared())).rejects.toMatchObject({ code: walletErrors.badAnswer.code });
});

describe("a change of the account", () => {
  it("is told once, and ends the wallet", async () => {
    const { double, wallet } = await connected();
    const told: string[] = [];
    wallet.onChange(() => told.push("changed"));
    const end = wallet.onChange(() => told.push("never"));
    end();
    double.switchAccount(berta);
    double.switchAccount(anna);
    expect(told).toEqual(["changed"]);
    await expect(wallet.signTx(prepared())).rejects.toMatchObject({ code: walletErrors.switched.code });
    await expect(wallet.text?.sign(toUtf8("x"))).rejects.toMatchObject({ code: walletErrors.switched.code });
    expect(double.asked).not.toContain(`direct ${CHAIN}`);
  });
});

describe("a text", () => {
  const now = 1_800_000_000;

  it("that a wallet signs opens a session which a gateway accepts", async () => {
    const { wallet } = await connected();
    if (wallet.text === undefined) throw new Error("the wallet signs no texts");
    const session = await openSession({ ...wallet.text, account: wallet.address, now: now * 1000 });
    const times = { iat: now, nbf: now, exp: now + 60 };
    const claims = {
      version: "v1",
      iss: anna.address,
      aud: "p",
      jti: "1",
      ...times,
      leases: { access: "full" },
    } as const;
    const token = await signToken(claims, sessionSigner(session));
    const publicKey = wallet.publicKey?.key ?? new Uint8Array();
    const expected = { publicKey, issuer: anna.address, audience: "p", now };
    expect(await verifyToken(token, expected)).toMatchObject({ iss: anna.address });
  });

  it.each([
    ["rejects", { rejects: true }, walletErrors.refused],
    ["signs another text", { otherMessage: true }, walletErrors.signedOther],
    ["signs with an account that was chosen meanwhile", { switchTo: berta }, walletErrors.switched],
  ])("is not signed where the wallet %s", async (_, switches, error) => {
    const { wallet } = await connected(switches);
    await expect(wallet.text?.sign(toUtf8("text"))).rejects.toMatchObject({ code: error.code });
  });
});

describe("an address alone", () => {
  it("signs nothing, and says why", async () => {
    const wallet = addressWallet(anna.address, { chainId: CHAIN, signMode: SignMode.DIRECT });
    expect(wallet).toMatchObject({ text: undefined, lacks: { transaction: "readOnly", text: "readOnly" } });
    await expect(wallet.signTx(prepared())).rejects.toMatchObject({ code: walletErrors.readOnly.code });
    expect(() => addressWallet("svc1nobody", wallet)).toThrow(/no address/);
  });
});
