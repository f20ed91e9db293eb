import { readFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import binaries from "../../../test/vectors/std-tx-amino.json" with { type: "json" };
import { fromBase64, toBase64, toHex } from "../../util/index.ts";
import { MsgSendSchema } from "../gen/sdk/bank/v1beta1/tx_pb.js";
import { MsgCreateDeploymentSchema } from "../gen/svc/deployment/v1beta1/tx_pb.js";
import {
  allMsgs,
  aminoName,
  aminoPrefix,
  decodeTx,
  encodeAuthInfo,
  encodeStdTx,
  encodeTx,
  encodeTxBody,
  packAny,
  SignMode,
} from "../index.ts";

interface Recorded {
  readonly name: string;
  readonly "amino-json": { readonly encode_stdout: string };
}
const recorded = JSON.parse(readFileSync(new URL("../../../test/vectors/tx-sdk042.json", import.meta.url), "utf8")) as {
  readonly cases: readonly Recorded[];
  readonly multisig: { readonly encode_stdout: string };
};
const encoded = new Map([
  ...recorded.cases.map((each) => [each.name, each["amino-json"].encode_stdout] as const),
  ["multisig", recorded.multisig.encode_stdout] as const,
]);
/** Only transactions whose messages this version knows. */
const known = binaries.items.filter(({ name }) => tryDecode(encoded.get(name) ?? "") !== undefined);

function tryDecode(base64: string) {
  try {
    return decodeTx(fromBase64(base64.trim()));
  } catch {
    return undefined;
  }
}

describe("StdTx in legacy amino", () => {
  test.each([
    ["cosmos-sdk/StdTx", "282816a9"],
    ["cosmos-sdk/MsgSend", "a8a3619a"],
    ["tendermint/PubKeySecp256k1", "eb5ae987"],
    ["tendermint/PubKeyMultisigThreshold", "22c1f7e2"],
    ["crypto/keys/localInfo", "0dad153d"],
  ])("the prefix of %s", (name, hex) => expect(toHex(aminoPrefix(name))).toBe(hex));

  test("prefixes of all messages differ", () => {
    const prefixes = allMsgs().map((schema) => toHex(aminoPrefix(aminoName(schema) ?? "")));
    expect(new Set(prefixes).size).toBe(prefixes.length);
  });

  test("transfers and the multisig are among the recorded ones", () => {
    expect(known.length).toBeGreaterThanOrEqual(4);
  });

  test.each(known)("$name has the recorded bytes", ({ name, base64 }) => {
    const tx = decodeTx(fromBase64((encoded.get(name) ?? "").trim()));
    expect(toBase64(encodeStdTx(tx))).toBe(base64);
  });

  test("one that is not signed has no signatures, and empty parts are left out", () => {
    const bodyBytes = encodeTxBody({ messages: [packAny(MsgSendSchema, { amount: [{ denom: "", amount: "" }] })] });
    const tx = decodeTx(encodeTx({ bodyBytes, authInfoBytes: encodeAuthInfo({ amount: [], gasLimit: 0n }, []) }, []));
    expect(toHex(encodeStdTx(tx))).toBe("282816a9" + "0a06" + "a8a3619a" + "1a00");
  });

  test("our own messages with lists and nested parts", () => {
    const message = create(MsgCreateDeploymentSchema, { id: { owner: "a", dseq: 300n }, groups: [{ name: "g" }] });
    const bodyBytes = encodeTxBody({ messages: [packAny(MsgCreateDeploymentSchema, message)] });
    const tx = decodeTx(encodeTx({ bodyBytes, authInfoBytes: encodeAuthInfo({ amount: [], gasLimit: 0n }, []) }, []));
    expect(toHex(encodeStdTx(tx))).toContain(`0a06${"0a0161"}${"10ac02"}12030a0167`);
  });

  test("payer and granter stand behind the gas", () => {
    const bodyBytes = encodeTxBody({ messages: [packAny(MsgSendSchema, {})] });
    const fee = { amount: [], gasLimit: 1n, payer: "p", granter: "g" };
    const tx = decodeTx(encodeTx({ bodyBytes, authInfoBytes: encodeAuthInfo(fee, []) }, []));
    expect(toHex(encodeStdTx(tx))).toBe("282816a90a04a8a3619a12081001" + "1a0170" + "220167");
  });

  test("a signature of another mode is refused", () => {
    const bodyBytes = encodeTxBody({ messages: [packAny(MsgSendSchema, {})] });
    const authInfoBytes = encodeAuthInfo({ amount: [], gasLimit: 0n }, [{ mode: SignMode.DIRECT, sequence: 0n }]);
    const tx = decodeTx(encodeTx({ bodyBytes, authInfoBytes }, [new Uint8Array(64)]));
    expect(() => encodeStdTx(tx)).toThrow("sign with --sign-mode amino-json");
  });
});
