import { describe, expect, test } from "vitest";
import binaries from "../../../test/vectors/std-tx-amino.json" with { type: "json" };
import { fromBase64, toBase64, toHex } from "../../util/index.ts";
import { MsgExecSchema, MsgGrantSchema } from "../gen/sdk/authz/v1beta1/tx_pb.js";
import { SendAuthorizationSchema } from "../gen/sdk/bank/v1beta1/authz_pb.js";
import { MsgSendSchema } from "../gen/sdk/bank/v1beta1/tx_pb.js";
import { MsgWithdrawValidatorCommissionSchema } from "../gen/sdk/distribution/v1beta1/tx_pb.js";
import { PeriodicAllowanceSchema } from "../gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { MsgGrantAllowanceSchema } from "../gen/sdk/feegrant/v1beta1/tx_pb.js";
import { StakeAuthorizationSchema } from "../gen/sdk/staking/v1beta1/authz_pb.js";
import { MsgCreateValidatorSchema } from "../gen/sdk/staking/v1beta1/tx_pb.js";
import {
  type Any,
  decodeTx,
  encodeAuthInfo,
  encodeStdTx,
  encodeTx,
  encodeTxBody,
  packAny,
  printJson,
  publicKeyToAny,
  readStdTx,
  STD_TX_NAME,
  stdTxFromJson,
} from "../index.ts";

const coins = [{ denom: "stake", amount: "5" }];
const text = (binary: Uint8Array, names?: "older" | "current") =>
  printJson({ type: STD_TX_NAME, value: readStdTx(binary, names) });

function unsigned(...messages: Any[]) {
  const fee = { amount: coins, gasLimit: 7n, payer: "p", granter: "g" };
  const bodyBytes = encodeTxBody({ messages, memo: "m \u2028 <&>", timeoutHeight: 9n });
  return decodeTx(encodeTx({ bodyBytes, authInfoBytes: encodeAuthInfo(fee, []) }, []));
}

test.each(binaries.items)("the JSON of a recorded transaction gives its bytes: $name", ({ base64 }) => {
  expect(toBase64(stdTxFromJson(text(fromBase64(base64))))).toBe(base64);
});

const key = publicKeyToAny({ type: "ed25519", key: new Uint8Array(32).fill(3) });
const messages: readonly [string, Any][] = [
  [
    "times, durations and a message inside",
    packAny(MsgGrantAllowanceSchema, {
      granter: "a",
      grantee: "b",
      allowance: packAny(PeriodicAllowanceSchema, {
        basic: { spendLimit: coins, expiration: { seconds: 1_800_000_000n, nanos: 5 } },
        period: { seconds: 3600n, nanos: 1 },
        periodSpendLimit: coins,
        periodCanSpend: [],
        periodReset: { seconds: 1_800_000_000n },
      }),
    }),
  ],
  [
    "lists of texts",
    packAny(MsgGrantSchema, {
      granter: "a",
      grantee: "b",
      grant: { authorization: packAny(SendAuthorizationSchema, { spendLimit: coins, allowList: ["x", "y"] }) },
    }),
  ],
  [
    "a chosen member and a number of an enumeration",
    packAny(MsgGrantSchema, {
      granter: "a",
      grantee: "b",
      grant: {
        authorization: packAny(StakeAuthorizationSchema, {
          maxTokens: coins[0],
          validators: { case: "allowList", value: { address: ["v", "w"] } },
          authorizationType: 1,
        }),
      },
    }),
  ],
  [
    "a key and decimals",
    packAny(MsgCreateValidatorSchema, {
      description: { moniker: "m" },
      commission: { rate: "100000000000000000", maxRate: "1", maxChangeRate: "0" },
      minSelfDelegation: "1",
      delegatorAddress: "a",
      validatorAddress: "v",
      pubkey: key,
      value: coins[0],
    }),
  ],
  [
    "messages inside one",
    packAny(MsgExecSchema, {
      grantee: "g",
      msgs: [
        packAny(MsgSendSchema, { fromAddress: "a", toAddress: "b", amount: coins }),
        packAny(MsgWithdrawValidatorCommissionSchema, { validatorAddress: "v" }),
      ],
    }),
  ],
];

test.each(messages)("its JSON gives the bytes of a transaction with %s", (_, message) => {
  const older = encodeStdTx(unsigned(message));
  expect(toHex(stdTxFromJson(text(older, "older")))).toBe(toHex(older));
  const current = stdTxFromJson(text(older, "current"));
  expect(text(current, "current")).toBe(text(older, "current"));
});

test("names of today and of older releases have their own bytes", () => {
  const older = encodeStdTx(unsigned(packAny(MsgWithdrawValidatorCommissionSchema, { validatorAddress: "v" })));
  const current = stdTxFromJson(text(older, "current"));
  expect(toHex(current)).not.toBe(toHex(older));
  expect(toHex(stdTxFromJson(text(current, "older")))).toBe(toHex(older));
});

describe("is refused:", () => {
  const deep = (n: number): string =>
    n === 0
      ? '{"type":"cosmos-sdk/MsgSend","value":{}}'
      : `{"type":"cosmos-sdk/MsgExec","value":{"grantee":"a","msgs":[${deep(n - 1)}]}}`;
  const tx = (value: string) => `{"type":"cosmos-sdk/StdTx","value":${value}}`;
  test.each([
    ["no JSON", "{"],
    ["another type", '{"type":"cosmos-sdk/MsgSend","value":{}}'],
    ["no type", '{"value":{}}'],
    ["something beside the value", '{"type":"cosmos-sdk/StdTx","value":{},"x":1}'],
    ["no content", tx("null")],
    ["an unknown field", tx('{"msgs":[]}')],
    ["a message of no known type", tx('{"msg":[{"type":"x/y","value":{}}]}')],
    ["a message without a type", tx('{"msg":[{"type":"","value":{}}]}')],
    ["an unknown field of a message", tx('{"msg":[{"type":"cosmos-sdk/MsgSend","value":{"to":"x"}}]}')],
    ["a field of another type", tx('{"msg":[{"type":"cosmos-sdk/MsgSend","value":{"amount":"x"}}]}')],
    ["a memo that is no text", tx('{"memo":1}')],
    ["gas beyond 64 bits", tx('{"fee":{"gas":"18446744073709551616"}}')],
    ["negative gas", tx('{"fee":{"gas":"-1"}}')],
    ["an unknown field of the fee", tx('{"fee":{"tip":"1"}}')],
    ["a signature that is no base64", tx('{"signatures":[{"pub_key":null,"signature":"*"}]}')],
    [
      "a key of another length",
      tx('{"signatures":[{"pub_key":{"type":"tendermint/PubKeySecp256k1","value":"AA=="}}]}'),
    ],
    ["a key of no known type", tx('{"signatures":[{"pub_key":{"type":"x","value":"AA=="}}]}')],
    ["messages nested without end", tx(`{"msg":[${deep(30)}]}`)],
    ["lists nested without end", "[".repeat(100_000)],
  ])("%s", (_, json) => {
    expect(() => stdTxFromJson(json)).toThrow(expect.objectContaining({ codespace: "sdk" }));
  });
});
