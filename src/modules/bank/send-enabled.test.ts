import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { emptyContext } from "../../../test/support/chain/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { testChain } from "../../testing/index.ts";
import { ParamsSchema } from "../../wire/gen/sdk/bank/v1beta1/bank_pb.js";
import { MsgSetSendEnabledSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { authModule } from "../auth/index.ts";
import { BankKeeper } from "./index.ts";
import { checkSetSendEnabled, setSendEnabled } from "./msgs.ts";

function kept() {
  const ctx = emptyContext("bank");
  const keeper = new BankKeeper(authModule().keeper);
  keeper.params.set(ctx.store("bank"), create(ParamsSchema, { defaultSendEnabled: true }));
  return { keeper, ctx };
}

describe("MsgSetSendEnabled", () => {
  const authority = encodeAddress(moduleAddress("gov"));
  const rules = [
    { denom: "aaa", enabled: false },
    { denom: "bbb", enabled: true },
  ];
  const set = (change: MessageInitShape<typeof MsgSetSendEnabledSchema>) =>
    create(MsgSetSendEnabledSchema, { authority, ...change });

  test("changes the entries that it names, and no others", () => {
    const { keeper, ctx } = kept();
    keeper.params.set(ctx.store("bank"), create(ParamsSchema, { sendEnabled: rules, defaultSendEnabled: true }));
    const sendEnabled = [
      { denom: "bbb", enabled: false },
      { denom: "ccc", enabled: false },
      { denom: "ddd", enabled: false },
    ];
    setSendEnabled(keeper, ctx, set({ sendEnabled, useDefaultFor: ["ccc", "zzz"] }));
    expect(keeper.getParams(ctx)).toMatchObject({
      defaultSendEnabled: true,
      sendEnabled: [rules[0], sendEnabled[0], sendEnabled[2]],
    });
    setSendEnabled(keeper, ctx, set({ useDefaultFor: ["aaa", "bbb", "ddd"] }));
    expect(keeper.getParams(ctx).sendEnabled).toEqual([]);
  });

  test("has no more entries than parameters may have", () => {
    const { keeper, ctx } = kept();
    const entries = (count: number, letter: string) =>
      Array.from({ length: count }, (_, i) => ({ denom: `${letter}${i}xx`, enabled: true }));
    setSendEnabled(keeper, ctx, set({ sendEnabled: entries(500, "a") }));
    expect(() => setSendEnabled(keeper, ctx, set({ sendEnabled: entries(1, "b") }))).toThrow(/at most 500 entries/);
    expect(keeper.getParams(ctx).sendEnabled).toHaveLength(500);
  });

  test("may come from governance alone", () => {
    const chain = testChain({ modules: () => [] });
    const alice = chain.key("alice");
    const message = create(MsgSetSendEnabledSchema, { authority: alice.address, sendEnabled: rules });
    expect(chain.send(message, { from: alice })).toMatchObject({ codespace: "sdk", code: 4 });
  });

  test.each([
    [{ sendEnabled: [...rules, ...rules.slice(0, 1)] }, /aaa/],
    [{ sendEnabled: [{ denom: "!", enabled: true }] }, /invalid denomination "!"/],
    [{ useDefaultFor: ["aaa", ""] }, /invalid denomination ""/],
  ])("refuses %j when it is proposed", (change, sentence) => {
    expect(() => checkSetSendEnabled(set(change))).toThrow(sentence);
  });
});
