import { create } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { runs } from "../../../test/support/runs.ts";
import { concatBytes, type SvcError } from "../../util/index.ts";
import { makeAny, packAny } from "../any.ts";
import { encodeMessage, WireReader } from "../codec/index.ts";
import { MsgSendSchema } from "../gen/sdk/bank/v1beta1/tx_pb.js";
import { TxResponseSchema } from "../gen/sdk/base/abci/v1beta1/abci_pb.js";
import { LegacyAminoPubKeySchema } from "../gen/sdk/crypto/multisig/keys_pb.js";
import { TxBodySchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { aminoSignBytes } from "./amino.ts";
import { readEnvelope } from "./envelope.ts";
import { decodeTx, MAX_TX_BYTES, MAX_TX_FIELDS, MAX_TX_ITEMS } from "./strict.ts";
import { encodeAuthInfo, encodeTx, encodeTxBody, SignMode, singleMode } from "./tx.ts";

const SEND = packAny(MsgSendSchema, { fromAddress: "a", toAddress: "b", amount: [{ denom: "utoken", amount: "1" }] });
const bodyBytes = encodeTxBody({ messages: [SEND], memo: "memo", timeoutHeight: 300n });
const authInfoBytes = encodeAuthInfo({ amount: [], gasLimit: 200_000n }, [{ mode: SignMode.DIRECT, sequence: 3n }]);
const signature = new Uint8Array(64).fill(1);
const GOOD = encodeTx({ bodyBytes, authInfoBytes }, [signature]);

const varint = (number: number, value: number) =>
  new BinaryWriter().tag(number, WireType.Varint).uint32(value).finish();
const bytes = (number: number, value: Uint8Array) =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(value).finish();
const join = (...parts: Uint8Array[]) => new Uint8Array(concatBytes(...parts));

function refusal(tx: Uint8Array): SvcError {
  try {
    decodeTx(tx);
  } catch (error) {
    return error as SvcError;
  }
  throw new Error("the transaction was accepted");
}

function withBody(body: Uint8Array): Uint8Array {
  return encodeTx({ bodyBytes: body, authInfoBytes }, [signature]);
}

function withAuth(authInfo: Uint8Array): Uint8Array {
  return encodeTx({ bodyBytes, authInfoBytes: authInfo }, [signature]);
}

function withMessage(value: Uint8Array): Uint8Array {
  return withBody(encodeTxBody({ messages: [makeAny(SEND.typeUrl, value)] }));
}

describe("a canonical transaction", () => {
  it("is read with its messages and keeps the signed bytes", () => {
    const tx = decodeTx(GOOD);
    expect(tx.raw).toMatchObject({ bodyBytes, authInfoBytes, signatures: [signature] });
    expect(tx.body).toMatchObject({ memo: "memo", timeoutHeight: 300n });
    expect(tx.authInfo.signerInfos[0]).toMatchObject({ sequence: 3n, modeInfo: singleMode(SignMode.DIRECT) });
    expect(tx.messages).toMatchObject([{ typeUrl: "/sdk.bank.v1beta1.MsgSend", value: { fromAddress: "a" } }]);
    expect(tx.hasUnknownFields).toBe(false);
  });

  it("may lack signatures, and may have empty ones, for simulation", () => {
    expect(decodeTx(encodeTx({ bodyBytes, authInfoBytes }, [])).raw.signatures).toEqual([]);
    expect(decodeTx(encodeTx({ bodyBytes, authInfoBytes }, [new Uint8Array()])).raw.signatures).toHaveLength(1);
  });
});

describe("the envelope", () => {
  const body = bytes(1, bodyBytes);
  const auth = bytes(2, authInfoBytes);
  const sig = bytes(3, signature);
  it.each([
    ["field number zero", new Uint8Array([0, 0]), "invalid length: tx parse error"],
    ["one byte", new Uint8Array([10]), "invalid length: tx parse error"],
    ["a length past the end", new Uint8Array([10, 5, 0]), "invalid length: tx parse error"],
    ["fields out of order", join(auth, body, sig), "field 1 comes after field 2: tx parse error"],
    ["signatures first", join(sig, body, auth), "field 1 comes after field 3: tx parse error"],
    ["a repeated body", join(body, body, auth, sig), "duplicate field body_bytes in TxRaw: tx parse error"],
    ["an empty body written out", join(new Uint8Array([10, 0]), auth, sig), "empty field body_bytes in TxRaw"],
    ["an unknown field", join(body, auth, sig, varint(4, 1)), "unknown field 4 in TxRaw: tx parse error"],
    ["an unknown field with the tolerated bit", join(body, auth, sig, varint(1024, 1)), "unknown field 1024 in TxRaw"],
    ["a wrong wire type", join(body, auth, varint(3, 1)), "wrong wire type 0 of field signatures"],
    ["an overlong tag", join(new Uint8Array([0x8a, 0x00]), body.subarray(1), auth, sig), "non-minimal varint"],
    [
      "an overlong length",
      join(new Uint8Array([10, 0x80 | bodyBytes.length, 0]), bodyBytes, auth),
      "non-minimal varint",
    ],
    ["a group", join(body, auth, sig, new Uint8Array([0x23, 0x24])), "unknown field 4 in TxRaw"],
  ])("refuses %s", (_, tx, message) => {
    const error = refusal(tx);
    expect(error.message).toContain(message);
    expect(error).toMatchObject({ codespace: "sdk", code: 2 });
    expect(error.hint).toMatch(/^see byte \d+ of \w+$/);
  });

  it("refuses too many bytes before reading any", () => {
    const error = refusal(new Uint8Array(MAX_TX_BYTES + 1));
    expect(error).toMatchObject({ code: 21, message: "1048577 > 1048576 bytes: tx too large" });
  });
});

describe("the parts", () => {
  it.each([15, 4, 1000, 3071])("refuses the unknown field %i of the body", (number) => {
    const tx = withBody(join(bodyBytes, varint(number, 1)));
    expect(refusal(tx).message).toBe(`unknown field ${number} in TxBody: tx parse error`);
  });

  it.each([1024, 1025, 2046, 3072])(
    "keeps the non-critical field %i of the body, which amino JSON cannot sign",
    (number) => {
      const body = join(bodyBytes, varint(number, 1));
      const tx = decodeTx(withBody(body));
      expect(tx.hasUnknownFields).toBe(true);
      expect(tx.raw.bodyBytes).toEqual(body);
      const signer = { chainId: "a", accountNumber: 0n, sequence: 0n };
      expect(() => aminoSignBytes(tx, signer)).toThrow(/unknown fields/);
    },
  );

  it("refuses extension options in amino JSON", () => {
    const body = create(TxBodySchema, { nonCriticalExtensionOptions: [makeAny("/other.X", new Uint8Array([1]))] });
    const tx = decodeTx(withBody(encodeMessage(TxBodySchema, body)));
    const signer = { chainId: "a", accountNumber: 0n, sequence: 0n };
    expect(() => aminoSignBytes(tx, signer)).toThrow(/extension options/);
  });

  it.each([
    ["AuthInfo", join(authInfoBytes, varint(15, 1))],
    ["AuthInfo", join(authInfoBytes, varint(1024, 1))],
    ["Fee", bytes(2, varint(15, 1))],
    ["SignerInfo", bytes(1, varint(15, 1))],
  ])("refuses unknown fields in %s", (name, authInfo) => {
    expect(refusal(withAuth(authInfo)).message).toMatch(
      new RegExp(`^unknown field (15|1024) in ${name}: tx parse error$`),
    );
  });

  it.each([
    ["a repeated memo", withBody(join(bodyBytes, bytes(2, new Uint8Array([97])))), "duplicate field memo in TxBody"],
    ["a repeated fee", withAuth(join(authInfoBytes, bytes(2, new Uint8Array()))), "duplicate field fee in AuthInfo"],
    [
      "two members of a oneof",
      withAuth(bytes(1, bytes(2, join(bytes(1, new Uint8Array()), bytes(2, new Uint8Array()))))),
      "duplicate field multi in ModeInfo",
    ],
    ["an unknown sign mode", withAuth(bytes(1, bytes(2, bytes(1, varint(1, 5))))), "unknown value 5 of field mode"],
    [
      "a varint of 11 bytes",
      withAuth(bytes(2, new Uint8Array([16, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]))),
      "varint overflow",
    ],
    [
      "a number above 64 bits",
      withAuth(bytes(2, new Uint8Array([16, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2]))),
      "varint overflow",
    ],
    ["a memo that is not UTF-8", withBody(bytes(2, new Uint8Array([0xff]))), "text is not valid UTF-8"],
    ["a surrogate in UTF-8", withBody(bytes(2, new Uint8Array([0xed, 0xa0, 0x80]))), "text is not valid UTF-8"],
    ["an overlong character", withBody(bytes(2, new Uint8Array([0xc0, 0x80]))), "text is not valid UTF-8"],
  ])("refuses %s", (_, tx, message) => {
    expect(refusal(tx)).toMatchObject({ code: 2, message: `${message}: tx parse error` });
  });

  it("keeps a byte order mark in the memo, because it is signed", () => {
    expect(decodeTx(withBody(bytes(2, new Uint8Array([0xef, 0xbb, 0xbf, 97])))).body.memo).toBe("\ufeffa");
  });
});

describe("the messages", () => {
  it.each([
    ["an unknown field", join(SEND.value, varint(9, 1)), "unknown field 9 in MsgSend"],
    ["an unknown field with the tolerated bit", join(SEND.value, varint(1025, 1)), "unknown field 1025 in MsgSend"],
    ["an unknown field inside", bytes(3, varint(9, 1)), "unknown field 9 in Coin"],
    ["a repeated field", join(SEND.value, bytes(1, new Uint8Array([97]))), "duplicate field from_address in MsgSend"],
    ["a wrong wire type", varint(1, 1), "wrong wire type 0 of field from_address"],
    ["a length past the end", new Uint8Array([10, 9, 1]), "invalid length"],
  ])("may not have %s", (_, value, message) => {
    expect(refusal(withMessage(value))).toMatchObject({ code: 2, message: `${message}: tx parse error` });
  });

  it.each(["/x.Y", "/sdk.bank.v1beta1.MsgSend/", "sdk.bank.v1beta1.MsgSend", `/${"x".repeat(65_536)}`])(
    "must be registered, which %.40s is not",
    (typeUrl) => {
      const error = refusal(withBody(encodeTxBody({ messages: [makeAny(typeUrl, new Uint8Array())] })));
      expect(error.message).toBe(`unable to resolve type URL ${typeUrl.slice(0, 128)}: tx parse error`);
      expect(error.code).toBe(2);
    },
  );

  it("may be written in the alias spelling, which is kept", () => {
    const alias = makeAny("/cosmos.bank.v1beta1.MsgSend", SEND.value);
    expect(decodeTx(withBody(encodeTxBody({ messages: [alias] }))).messages[0]?.typeUrl).toBe(alias.typeUrl);
  });
});

describe("the number of fields", () => {
  const CREATE = "/svc.deployment.v1beta1.MsgCreateDeployment";
  /** `count` empty groups, or resources of a group, each a field of two bytes. */
  const empty = (number: number, count: number) =>
    new Uint8Array(Array.from({ length: count }, () => [(number << 3) | 2, 0]).flat());
  const withCreate = (value: Uint8Array) => withBody(encodeTxBody({ messages: [makeAny(CREATE, value)] }));

  /** The message itself, its type and its value. */
  const OTHERS = 3;

  /** Groups of at most as many resources as a list may have: this many fields in all. */
  function fields(count: number): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let left = count; left > 0; left -= MAX_TX_ITEMS + 1)
      parts.push(bytes(2, empty(3, Math.min(left, MAX_TX_ITEMS + 1) - 1)));
    return join(...parts);
  }

  it("ends at a hundred thousand, however they nest", () => {
    expect(() => decodeTx(withCreate(fields(MAX_TX_FIELDS - OTHERS)))).not.toThrow();
    const error = refusal(withCreate(fields(MAX_TX_FIELDS - OTHERS + 1)));
    expect(error).toMatchObject({ codespace: "sdk", code: 21, message: "more than 100000 fields: tx too large" });
  });

  it("in one list ends at 4096, of messages as well", () => {
    expect(() => decodeTx(withCreate(empty(2, MAX_TX_ITEMS)))).not.toThrow();
    const beyond = "more than 4096 items of field groups: tx parse error";
    expect(refusal(withCreate(empty(2, MAX_TX_ITEMS + 1)))).toMatchObject({ code: 2, message: beyond });
    const sends = (count: number) => withBody(encodeTxBody({ messages: Array.from({ length: count }, () => SEND) }));
    expect(() => decodeTx(sends(MAX_TX_ITEMS))).not.toThrow();
    expect(refusal(sends(MAX_TX_ITEMS + 1)).message).toContain("items of field messages");
  });

  it("bounds what is read of a transaction before it is refused", () => {
    const crowded = withCreate(empty(2, 500_000));
    const nested = withCreate(join(...Array.from({ length: 120 }, () => bytes(2, empty(3, MAX_TX_ITEMS)))));
    const read = vi.spyOn(WireReader.prototype, "tag");
    expect(() => decodeTx(crowded)).toThrow();
    expect(read.mock.calls.length).toBeLessThan(MAX_TX_ITEMS + 100);
    read.mockClear();
    expect(() => decodeTx(nested)).toThrow();
    expect(read.mock.calls.length).toBeLessThan(MAX_TX_FIELDS + 100);
    read.mockClear();
    // Its owner comes after all those fields.
    expect(() => readEnvelope(crowded)).toThrow(/more than 100000 fields/);
    expect(read.mock.calls.length).toBeLessThan(MAX_TX_FIELDS + 100);
    read.mockRestore();
  });
});

describe("nesting", () => {
  const single = makeAny("/sdk.crypto.secp256k1.PubKey", new Uint8Array());

  function signedBy(publicKey: typeof single): Uint8Array {
    return withAuth(encodeAuthInfo({ amount: [], gasLimit: 1n }, [{ publicKey, mode: SignMode.DIRECT, sequence: 0n }]));
  }

  function nested(levels: number): typeof single {
    let any = single;
    for (let i = 1; i < levels; i++) any = packAny(LegacyAminoPubKeySchema, { publicKeys: [any] });
    return any;
  }

  it("of Any ends at ten", () => {
    expect(() => decodeTx(signedBy(nested(9)))).not.toThrow();
    for (const levels of [11, 100, 500]) expect(refusal(signedBy(nested(levels)))).toMatchObject({ code: 34 });
  });

  it("of Any counts all members", () => {
    const key = (count: number) =>
      packAny(LegacyAminoPubKeySchema, { publicKeys: Array.from({ length: count }, () => single) });
    expect(() => decodeTx(signedBy(key(99)))).not.toThrow();
    expect(refusal(signedBy(key(100)))).toMatchObject({ code: 34 });
  });

  it("of an unregistered type inside is refused", () => {
    const key = packAny(LegacyAminoPubKeySchema, { publicKeys: [makeAny("/x.Y", new Uint8Array())] });
    expect(refusal(signedBy(key)).message).toBe("unable to resolve type URL /x.Y: tx parse error");
  });

  it("of messages ends long before the stack does", () => {
    let mode = bytes(1, varint(1, 1));
    for (let i = 0; i < 3000; i++) mode = bytes(2, bytes(2, mode));
    const tx = withAuth(bytes(1, bytes(2, mode)));
    expect(refusal(tx).message).toBe("messages are nested too deeply: tx parse error");
  });
});

describe("any bytes", () => {
  it("are refused with a numbered error or accepted as they are", () => {
    const garbage = fc.uint8Array({ maxLength: 200 });
    const flipped = fc
      .tuple(fc.nat(GOOD.length - 1), fc.integer({ min: 1, max: 255 }))
      .map(([at, bits]) => GOOD.map((byte, i) => (i === at ? byte ^ bits : byte)));
    fc.assert(
      fc.property(fc.oneof(garbage, flipped), (input) => {
        try {
          const tx = decodeTx(input);
          expect(encodeTx(tx.raw, tx.raw.signatures)).toEqual(new Uint8Array(input));
        } catch (error) {
          expect(error).toMatchObject({ codespace: "sdk", code: 2 });
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  it("of a type that is not a transaction message are decoded all the same, for the router to refuse", () => {
    const any = packAny(TxResponseSchema, { txhash: "x" });
    expect(decodeTx(withBody(encodeTxBody({ messages: [any] }))).messages[0]?.schema).toBe(TxResponseSchema);
  });
});
