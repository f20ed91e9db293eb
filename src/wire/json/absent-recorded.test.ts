import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import recorded from "../../../test/vectors/absent-parts.json" with { type: "json" };
import keyVectors from "../../../test/vectors/keys.json" with { type: "json" };
import { publicKeyOf } from "../../crypto/index.ts";
import { fromBase64, fromHex } from "../../util/index.ts";
import { encodeMessage } from "../codec/index.ts";
import { TxBodySchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { secp256k1PublicKey } from "../keys/index.ts";
import { verifySignature } from "../tx/signatures.ts";
import { decodeTx } from "../tx/strict.ts";
import { SignMode, singleMode } from "../tx/tx.ts";
import { fromJson, printJson, toJson } from "./index.ts";

/** Recorded output of the reference tools for messages with as few fields as possible. */
interface Answer {
  readonly of: string;
  /** The transaction. */
  readonly bytes: string;
  /** Its message as they decode it. */
  readonly message: unknown;
  /** Theirs in mode amino JSON, where they sign it. */
  readonly signature?: string;
}

const ANSWERS = Object.entries(recorded).flatMap(([tool, answers]) =>
  (answers as readonly Answer[]).map((answer) => [tool, answer.of, answer] as const),
);
const signer = { chainId: "vec-1", accountNumber: 12n, sequence: 34n };
const [owner] = keyVectors.keys;
const key = secp256k1PublicKey(publicKeyOf(fromHex(owner?.privateKey ?? "")));

describe("messages that say as little as they may", () => {
  it.each(ANSWERS)("%s: %s is shown as recorded, and has the same bytes again", (_, __, { bytes, message }) => {
    const { raw, body } = decodeTx(new Uint8Array(fromBase64(bytes)));
    const json = toJson(TxBodySchema, body, { exact: true });
    const expected = toJson(TxBodySchema, create(TxBodySchema), { exact: true });
    expect(printJson(json)).toBe(printJson({ ...(expected as object), messages: [message as never] }));
    expect(encodeMessage(TxBodySchema, fromJson(TxBodySchema, json))).toEqual(raw.bodyBytes);
  });

  const signed = ANSWERS.filter(([, , { signature }]) => signature !== undefined);
  it.each(signed)("%s: %s is signed in amino JSON as recorded", (_, __, { bytes, signature = "" }) => {
    const tx = decodeTx(new Uint8Array(fromBase64(bytes)));
    const modeInfo = singleMode(SignMode.LEGACY_AMINO_JSON);
    const share = { modeInfo, signature: new Uint8Array(fromBase64(signature)), signer };
    expect(verifySignature({ ...tx.raw }, key, share)).toBe(true);
  });
});
