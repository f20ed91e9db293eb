import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import binaries from "../../../test/vectors/std-tx-amino.json" with { type: "json" };
import { fromBase64 } from "../../util/index.ts";
import { MsgGrantSchema } from "../gen/sdk/authz/v1beta1/tx_pb.js";
import { SendAuthorizationSchema } from "../gen/sdk/bank/v1beta1/authz_pb.js";
import { PeriodicAllowanceSchema } from "../gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { MsgGrantAllowanceSchema } from "../gen/sdk/feegrant/v1beta1/tx_pb.js";
import { TextProposalSchema } from "../gen/sdk/gov/v1beta1/gov_pb.js";
import { MsgSubmitProposalSchema } from "../gen/sdk/gov/v1beta1/tx_pb.js";
import {
  type Any,
  decodeTx,
  encodeAuthInfo,
  encodeStdTx,
  encodeTx,
  encodeTxBody,
  isStdTx,
  packAny,
  readStdTx,
  toStdTx,
} from "../index.ts";

const bytes = (base64: string): Uint8Array => Uint8Array.from(fromBase64(base64));

function unsigned(message: Any) {
  const fee = { amount: [{ denom: "stake", amount: "5" }], gasLimit: 7n, payer: "p", granter: "g" };
  const bodyBytes = encodeTxBody({ messages: [message], memo: "m", timeoutHeight: 9n });
  return decodeTx(encodeTx({ bodyBytes, authInfoBytes: encodeAuthInfo(fee, []) }, []));
}

describe("a StdTx in legacy amino", () => {
  const coins = [{ denom: "stake", amount: "5" }];
  const messages: readonly [string, Any][] = [
    [
      "a message inside another",
      packAny(MsgSubmitProposalSchema, {
        content: packAny(TextProposalSchema, { title: "t", description: "d" }),
        initialDeposit: coins,
        proposer: "a",
      }),
    ],
    [
      "times and durations",
      packAny(MsgGrantAllowanceSchema, {
        granter: "a",
        grantee: "b",
        allowance: packAny(PeriodicAllowanceSchema, {
          basic: { spendLimit: coins, expiration: { seconds: 1_800_000_000n, nanos: 5 } },
          period: { seconds: 3600n, nanos: 1 },
          periodSpendLimit: coins,
          periodCanSpend: coins,
          periodReset: { seconds: 1_800_000_000n },
        }),
      }),
    ],
    [
      "lists of texts",
      packAny(MsgGrantSchema, {
        granter: "a",
        grantee: "b",
        grant: create(MsgGrantSchema, {
          grant: { authorization: packAny(SendAuthorizationSchema, { spendLimit: coins, allowList: ["x", "y"] }) },
        }).grant,
      }),
    ],
  ];

  test.each(messages)("is read back: %s", (_, message) => {
    const tx = unsigned(message);
    expect(readStdTx(encodeStdTx(tx))).toEqual(toStdTx(tx));
  });

  test.each(binaries.items)("with a byte changed is refused or another one: $name", ({ base64 }) => {
    const whole = bytes(base64);
    expect(isStdTx(whole)).toBe(true);
    fc.assert(
      fc.property(fc.integer({ min: 4, max: whole.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const other = Uint8Array.from(whole);
        other[at] = (other[at] ?? 0) ^ change;
        try {
          expect(readStdTx(other)).toHaveProperty("msg");
        } catch (error) {
          expect(error).toMatchObject({ codespace: "sdk", code: 2 });
        }
      }),
    );
  });

  test.each([
    ["", "not a StdTx"],
    ["KCgWqQ==", "no messages"],
    ["KCgWqQoEAQIDBA==", "unknown type 01020304"],
    ["KCgWqTAB", "unknown field 6"],
    ["KCgWqQr/", "malformed StdTx"],
  ])("is refused: %j", (base64, why) => {
    expect(() => readStdTx(bytes(base64))).toThrow(why);
  });
});
