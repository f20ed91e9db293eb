import { readFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { signSecp256k1, verifySecp256k1 } from "../../crypto/index.ts";
import { fromBase64, fromHex, fromUtf8, toBase64 } from "../../util/index.ts";
import { encodeAddress } from "../address.ts";
import { TxSchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { fromJson, printJson, readJson, toJson } from "../json/index.ts";
import { encodeMultiSignature, memberSignatures, publicKeyAddress, publicKeyFromAny } from "../keys/index.ts";
import { findTypeUrl } from "../registry.ts";
import { toStdTx } from "../std-tx/std-tx.ts";
import { aminoSignBytes, type SignerData } from "./amino.ts";
import { signBytes } from "./sign-bytes.ts";
import { verifySignature } from "./signatures.ts";
import { txSigners } from "./signers.ts";
import { type DecodedTx, decodeTx } from "./strict.ts";
import { directSignBytes, encodeAuthInfo, encodeTx, encodeTxBody, multiMode, SignMode, txHash } from "./tx.ts";

interface Mode {
  readonly signed_stdout: string;
  readonly encode_stdout: string;
}
interface Case {
  readonly name: string;
  readonly unsigned_json: { body: { messages: { "@type": string }[] } };
  readonly unsigned_stdout: string;
  readonly account_number: number;
  readonly sequence: number;
  readonly direct: Mode;
  readonly "amino-json": Mode;
  readonly amino_flag_stdout: string;
  readonly encode_unsigned_stdout: string;
}
interface Vectors {
  readonly chain_id: string;
  readonly cases: readonly Case[];
  readonly multisig: {
    readonly unsigned_stdout: string;
    readonly account_number: number;
    readonly sequence: number;
    readonly multisign_stdout: string;
    readonly encode_stdout: string;
    readonly amino_flag_stdout: string;
  };
}

const vectors = JSON.parse(
  readFileSync(new URL("../../../test/vectors/tx-sdk042.json", import.meta.url), "utf8"),
) as Vectors;
const known = vectors.cases.filter((vector) =>
  vector.unsigned_json.body.messages.every((message) => findTypeUrl(message["@type"]) !== undefined),
);

/** First key of the vectors' test phrase. */
const PRIVATE_KEY = fromHex("7485094395dce473276c220b51fd130e02b5697951d3e00cd9ccf8c42e792848");

function toRaw(json: string): Uint8Array {
  const tx = fromJson(TxSchema, readJson(json));
  const { bodyBytes, authInfoBytes } = parts(tx.body?.messages ?? [], json);
  return encodeTx({ bodyBytes, authInfoBytes }, tx.signatures);
}

function parts(messages: Parameters<typeof encodeTxBody>[0]["messages"], json: string) {
  const tx = fromJson(TxSchema, readJson(json));
  const bodyBytes = encodeTxBody({ messages, memo: tx.body?.memo ?? "", timeoutHeight: tx.body?.timeoutHeight ?? 0n });
  const fee = tx.authInfo?.fee;
  const signers = (tx.authInfo?.signerInfos ?? []).map((info) => {
    if (info.modeInfo === undefined) throw new Error("no mode");
    return { publicKey: info.publicKey, mode: info.modeInfo, sequence: info.sequence };
  });
  const authInfoBytes = encodeAuthInfo({ amount: fee?.amount ?? [], gasLimit: fee?.gasLimit ?? 0n }, signers);
  return { bodyBytes, authInfoBytes };
}

function asJson(bytes: Uint8Array): string {
  const { body, authInfo, raw } = decodeTx(bytes);
  return printJson(toJson(TxSchema, create(TxSchema, { body, authInfo, signatures: raw.signatures })));
}

describe("transactions of the reference tool", () => {
  it("finds the cases of transfers at least", () => {
    expect(known.length).toBeGreaterThanOrEqual(3);
  });

  describe.each(known)("$name", (vector) => {
    const signer = {
      chainId: vectors.chain_id,
      accountNumber: BigInt(vector.account_number),
      sequence: BigInt(vector.sequence),
      aminoNames: "older" as const,
    };

    it("encodes the unsigned form to the same bytes", () => {
      expect(toBase64(toRaw(vector.unsigned_stdout))).toBe(vector.encode_unsigned_stdout.trim());
    });

    it.each(["direct", "amino-json"] as const)("reads, prints and writes the %s form unchanged", (mode) => {
      const { encode_stdout: encoded, signed_stdout: printed } = vector[mode];
      const bytes = fromBase64(encoded.trim());
      expect(asJson(bytes)).toBe(printed.trim());
      expect(toBase64(toRaw(printed))).toBe(encoded.trim());
    });

    it.each([
      ["direct", SignMode.DIRECT],
      ["amino-json", SignMode.LEGACY_AMINO_JSON],
    ] as const)("has sign bytes that the recorded %s signature covers", (name, mode) => {
      const { raw, authInfo, ...rest } = decodeTx(fromBase64(vector[name].encode_stdout.trim()));
      const any = authInfo.signerInfos[0]?.publicKey;
      const signature = raw.signatures[0];
      if (any === undefined || signature === undefined) throw new Error("the vector has no signature");
      const key = publicKeyFromAny(any);
      if (key.type === "multisig") throw new Error("single key expected");
      const bytes = signBytes(mode, { ...raw, decoded: { authInfo, ...rest } }, signer);
      expect(verifySecp256k1(key.key, bytes, signature)).toBe(true);
      expect(signBytes(mode, raw, signer)).toEqual(bytes);
    });

    it("has an amino-json signature that holds whatever names the verifier has", () => {
      const { raw, authInfo } = decodeTx(fromBase64(vector["amino-json"].encode_stdout.trim()));
      const [info] = authInfo.signerInfos;
      const [signature = new Uint8Array()] = raw.signatures;
      if (info?.publicKey === undefined) throw new Error("the vector has no key");
      const key = publicKeyFromAny(info.publicKey);
      const verify = (changed: Partial<SignerData>) =>
        verifySignature(raw, key, { modeInfo: info.modeInfo, signature, signer: { ...signer, ...changed } });
      expect([verify({}), verify({ aminoNames: "current" })]).toEqual([true, true]);
      expect([verify({ sequence: 35n }), verify({ chainId: "vec-2" })]).toEqual([false, false]);
    });

    it("prints the shape of the era before protobuf", () => {
      const tx = decodeTx(fromBase64(vector["amino-json"].encode_stdout.trim()));
      expect(printJson({ tx: toStdTx(tx), mode: "block|sync|async" })).toBe(vector.amino_flag_stdout.trim());
      const direct = decodeTx(fromBase64(vector.direct.encode_stdout.trim()));
      expect(() => toStdTx(direct)).toThrow(/amino-json/);
    });
  });

  it("signs to the same bytes in both modes", () => {
    const vector = known[0];
    if (vector === undefined) throw new Error("no vector");
    const signer = { chainId: vectors.chain_id, accountNumber: 12n, sequence: 34n };
    for (const [name, mode] of [
      ["direct", SignMode.DIRECT],
      ["amino-json", SignMode.LEGACY_AMINO_JSON],
    ] as const) {
      const expected = fromBase64(vector[name].encode_stdout.trim());
      const { raw } = decodeTx(expected);
      const signature = signSecp256k1(PRIVATE_KEY, signBytes(mode, raw, signer));
      expect(encodeTx(raw, [signature])).toEqual(new Uint8Array(expected));
    }
  });

  it("writes amino JSON with sorted keys and escaped characters", () => {
    const vector = known[0];
    if (vector === undefined) throw new Error("no vector");
    const tx = decodeTx(fromBase64(vector["amino-json"].encode_stdout.trim()));
    expect(fromUtf8(aminoSignBytes(tx, { chainId: "vec-1", accountNumber: 12n, sequence: 34n }))).toBe(
      '{"account_number":"12","chain_id":"vec-1","fee":{"amount":[{"amount":"500","denom":"stake"}],"gas":"90000"},' +
        '"memo":"hi \\u003c\\u0026\\u003e \\"q\\" é \\u2028","msgs":[{"type":"cosmos-sdk/MsgSend","value":{"amount":' +
        '[{"amount":"7","denom":"stake"},{"amount":"1234","denom":"uvec"}],' +
        '"from_address":"cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6",' +
        '"to_address":"cosmos1pk3acgv3c5jy880cskd6vzgka3reed0v54q35n"}}],"sequence":"34"}',
    );
  });
});

describe("the recorded multisig transaction", () => {
  const { multisig } = vectors;
  const bytes = fromBase64(multisig.encode_stdout.trim());
  const tx = decodeTx(bytes);
  const info = tx.authInfo.signerInfos[0];

  function members(decoded: DecodedTx, signature = decoded.raw.signatures[0] ?? new Uint8Array()) {
    const sum = decoded.authInfo.signerInfos[0]?.modeInfo?.sum;
    const key = info?.publicKey === undefined ? undefined : publicKeyFromAny(info.publicKey);
    if (sum?.case !== "multi" || key?.type !== "multisig") throw new Error("multisig expected");
    return memberSignatures(key, sum.value, signature);
  }

  it("reads, prints and writes unchanged", () => {
    expect(asJson(bytes)).toBe(multisig.multisign_stdout.trim());
    expect(toBase64(toRaw(multisig.multisign_stdout))).toBe(multisig.encode_stdout.trim());
    expect(printJson({ tx: toStdTx(tx), mode: "block|sync|async" })).toBe(multisig.amino_flag_stdout.trim());
  });

  it("belongs to the account that sends", () => {
    if (info?.publicKey === undefined) throw new Error("no key");
    const address = encodeAddress(publicKeyAddress(publicKeyFromAny(info.publicKey)), "account", "cosmos");
    expect(txSigners(tx.messages, tx.authInfo.fee)).toEqual([address]);
  });

  it("pairs each member with its signature, and each signature holds", () => {
    const data = { chainId: vectors.chain_id, accountNumber: 5n, sequence: 6n };
    const found = members(tx);
    expect(found).toHaveLength(2);
    for (const { publicKey, mode, signature } of found) {
      expect(mode).toBe(SignMode.LEGACY_AMINO_JSON);
      expect(verifySecp256k1(publicKey.key, signBytes(mode, tx.raw, data), signature)).toBe(true);
    }
  });

  it("can be put together from the members' signatures", () => {
    const signatures = members(tx).map(({ signature }) => signature);
    if (info?.publicKey === undefined) throw new Error("no key");
    const mode = multiMode([false, true, true]);
    const fee = { amount: [{ denom: "stake", amount: 1n }], gasLimit: 200_000n };
    const authInfoBytes = encodeAuthInfo(fee, [{ publicKey: info.publicKey, mode, sequence: 6n }]);
    const again = encodeTx({ bodyBytes: tx.raw.bodyBytes, authInfoBytes }, [encodeMultiSignature(signatures)]);
    expect(again).toEqual(new Uint8Array(bytes));
  });

  it("refuses a bit array of another size, too few signatures and signatures left over", () => {
    const sum = info?.modeInfo?.sum;
    const key = info?.publicKey === undefined ? undefined : publicKeyFromAny(info.publicKey);
    if (sum?.case !== "multi" || key?.type !== "multisig") throw new Error("multisig expected");
    const signature = tx.raw.signatures[0] ?? new Uint8Array();
    const withMode = (flags: boolean[]) => {
      const mode = multiMode(flags).sum;
      if (mode.case !== "multi") throw new Error("multi expected");
      return () => memberSignatures(key, mode.value, signature);
    };
    expect(withMode([true, true])).toThrow(/bit array of 2 size/);
    expect(withMode([false, false, true])).toThrow(/not enough signatures set, have 1, expected 2/);
    expect(withMode([true, true, true])).toThrow(/2 signatures for 3 signing members/);
    expect(() => members(tx, new Uint8Array([0]))).toThrow(/invalid length/);
  });
});

describe("building transactions", () => {
  it("names them by the hash of their bytes", () => {
    expect(txHash(new Uint8Array([0]))).toBe("6E340B9CFFB37A989CA544E6BB780A2C78901D3FB33738768511A30617AFA01D");
  });

  it("binds chain and account number in direct mode", () => {
    const raw = { bodyBytes: new Uint8Array([1]), authInfoBytes: new Uint8Array([2]) };
    const doc = directSignBytes(raw, { chainId: "a", accountNumber: 0n });
    expect(doc).toEqual(new Uint8Array([10, 1, 1, 18, 1, 2, 26, 1, 97]));
    expect(directSignBytes(raw, { chainId: "a", accountNumber: 1n })).toEqual(new Uint8Array([...doc, 32, 1]));
  });

  it("refuses modes that nobody can verify", () => {
    const raw = { bodyBytes: new Uint8Array(), authInfoBytes: new Uint8Array() };
    const signer = { chainId: "a", accountNumber: 0n, sequence: 0n };
    expect(() => signBytes(SignMode.TEXTUAL, raw, signer)).toThrow("unsupported sign mode TEXTUAL: unauthorized");
  });
});
