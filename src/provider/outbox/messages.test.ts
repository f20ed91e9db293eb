import { expect, it } from "vitest";
import { testKey } from "../../testing/index.ts";
import { MsgWithdrawLeasesSchema } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { decodeMessage } from "../../wire/index.ts";
import { withdrawMessages } from "./messages.ts";

const provider = testKey("bob").address;

function idsOf(count: number): (readonly bigint[])[] {
  const leases = Array.from({ length: count }, (_, i) => {
    return { owner: testKey("alice").address, dseq: BigInt(i + 1), gseq: 1, oseq: 1, provider };
  });
  return withdrawMessages(provider, leases).map(({ value }) => {
    const message = decodeMessage(MsgWithdrawLeasesSchema, value);
    expect(message.provider).toBe(provider);
    return message.ids.map(({ dseq }) => dseq);
  });
}

it("earnings of all leases are collected, however many they are", () => {
  expect(idsOf(0)).toEqual([]);
  expect(idsOf(1)).toEqual([[]]);
  expect(idsOf(100)).toEqual([[]]);
  const many = idsOf(250);
  expect(many.map((ids) => ids.length)).toEqual([100, 100, 50]);
  expect(many.flat()).toEqual(Array.from({ length: 250 }, (_, i) => BigInt(i + 1)));
});
