import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { createApp } from "../../app/index.ts";
import { memoryDatabase } from "../../store/index.ts";
import { testChain, testKey } from "../../testing/index.ts";
import { Query } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgMultiSendSchema, MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { moduleAddress } from "../../crypto/index.ts";
import { encodeAddress } from "../../wire/index.ts";

function coins(amount: string, denom = "utoken") {
  return [{ denom, amount }];
}

function msgSend(from: string, to: string, amount = coins("10")) {
  return create(MsgSendSchema, { fromAddress: from, toAddress: to, amount });
}

describe("bank", () => {
  test("sends coins, creates the receiver, tells of it in the era's events", () => {
    const chain = testChain();
    const alice = chain.key("alice");
    const to = testKey("nobody").address;
    const sent = chain.mustSend(msgSend(alice.address, to), { from: alice, fee: [{ denom: "utoken", amount: 500n }] });
    expect(chain.balance(to)).toBe(10n);
    expect(chain.balance(alice.address)).toBe(10n ** 12n - 510n);
    expect(chain.account(to).sequence).toBe(0n);
    expect(chain.account(alice.address).sequence).toBe(1n);
    expect(sent.log).toBe(
      JSON.stringify([
        {
          events: [
            {
              type: "message",
              attributes: [
                { key: "action", value: "send" },
                { key: "sender", value: alice.address },
                { key: "module", value: "bank" },
              ],
            },
            {
              type: "transfer",
              attributes: [
                { key: "recipient", value: to },
                { key: "sender", value: alice.address },
                { key: "amount", value: "10utoken" },
              ],
            },
          ],
        },
      ]),
    );
    expect(sent.events.map(({ type, attributes }) => [type, ...attributes.map(({ key }) => key)])).toEqual([
      ["tx", "acc_seq"],
      ["tx", "signature"],
      ["transfer", "recipient", "sender", "amount"],
      ["message", "sender"],
      ["tx", "fee", "fee_payer"],
      ["message", "action", "msg_index"],
      ["transfer", "recipient", "sender", "amount", "msg_index"],
      ["message", "sender", "msg_index"],
      ["message", "module", "msg_index"],
    ]);
  });
});
