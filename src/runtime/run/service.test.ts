import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import type { BaseKeepers } from "../../app/index.ts";
import { type TestChain, testChain } from "../../testing/index.ts";
import { ParamsSchema } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { GenericAuthorizationSchema } from "../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import {
  Msg as CarrierMsg,
  MsgExecResponseSchema,
  MsgExecSchema,
  MsgGrantSchema,
} from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { MsgMultiSendSchema, MsgSendResponseSchema, MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { SimulateRequestSchema } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import {
  GenesisStateSchema,
  MsgDeleteProviderAttributesSchema,
  Msg as PricedMsg,
} from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { type Any, decodeAddress, encodeMessage, makeAny, packAny, typeUrlOf } from "../../wire/index.ts";
import {
  bindService,
  defineGenesis,
  defineModule,
  MAX_MESSAGE_NESTING,
  MAX_NESTED_MESSAGES,
  type Module,
} from "../index.ts";

const PRICE = 70_000n;

/** Modules of a test: one whose message carries others for its own signer, and one that prices its messages. */
function modules({ messages }: BaseKeepers): Module[] {
  const genesis = defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema),
    init: () => {},
    export: () => create(GenesisStateSchema),
  });
  const carrier = bindService(
    CarrierMsg,
    {
      grant: () => ({}),
      revoke: () => ({}),
      exec: (ctx, { grantee, msgs }) => {
        const responses = messages.execute(ctx, msgs, decodeAddress(grantee));
        ctx.events.emit("carried", { responses: responses.map(({ typeUrl }) => typeUrl).join(" ") });
        return {};
      },
    },
    { exec: ({ grantee, msgs }) => messages.check(msgs, decodeAddress(grantee)) },
  );
  const priced = bindService(PricedMsg, {
    signProviderAttributes: () => ({}),
    deleteProviderAttributes: () => ({}),
    updateParams: () => ({}),
  });
  return [
    defineModule({ name: "carrier", msg: carrier, genesis }),
    defineModule({ name: "audit", msg: priced, genesis, messageGas: () => PRICE }),
  ];
}

function start(): {
  chain: TestChain;
  exec: (...msgs: Any[]) => Any;
  send: (change?: MessageInitShape<typeof MsgSendSchema>) => Any;
} {
  const chain = testChain({ modules });
  const [alice, bob] = [chain.key("alice").address, chain.key("bob").address];
  return {
    chain,
    exec: (...msgs) => packAny(MsgExecSchema, { grantee: alice, msgs }),
    send: (change = {}) =>
      packAny(MsgSendSchema, {
        fromAddress: alice,
        toAddress: bob,
        amount: [{ denom: "utoken", amount: "1" }],
        ...change,
      }),
  };
}

function nested(exec: (...msgs: Any[]) => Any, inner: Any, times: number): Any {
  return times === 0 ? inner : exec(nested(exec, inner, times - 1));
}

describe("messages inside a message", () => {
  test("run in order, with their events and their responses in the spelling of each", () => {
    const { chain, exec, send } = start();
    const from = chain.key("alice");
    const alias = { ...send(), typeUrl: typeUrlOf(MsgSendSchema, "cosmos") };
    const sent = chain.mustSend(exec(send(), alias), { from });
    const transfers = sent.events.filter(({ type }) => type === "transfer");
    expect(transfers).toHaveLength(2);
    expect(sent.events.find(({ type }) => type === "carried")?.attributes[0]?.value).toBe(
      `${typeUrlOf(MsgSendResponseSchema)} ${typeUrlOf(MsgSendResponseSchema, "cosmos")}`,
    );
    expect(sent.response(MsgExecResponseSchema)).toBeDefined();
    expect(chain.balance(chain.key("bob").address)).toBe(10n ** 12n + 2n);
  });

  test("are undone together, and the one that failed is named", () => {
    const { chain, exec, send } = start();
    const tooMuch = send({ amount: [{ denom: "utoken", amount: (10n ** 13n).toString() }] });
    const { code, codespace, log } = chain.send(exec(send(), tooMuch), { from: chain.key("alice") });
    expect({ code, codespace }).toEqual({ code: 5, codespace: "sdk" });
    expect(log).toContain("failed to execute message; message index: 1");
    expect(chain.balance(chain.key("bob").address)).toBe(10n ** 12n);
  });

  test("cost what their module asks, and running out of gas is reported as such", () => {
    const { chain, exec } = start();
    const from = chain.key("alice");
    const remove = packAny(MsgDeleteProviderAttributesSchema, { auditor: from.address });
    const { gasUsed: one } = chain.mustSend(exec(remove), { from, gas: 10n ** 7n });
    const { gasUsed: three } = chain.mustSend(exec(remove, remove, remove), { from, gas: 10n ** 7n });
    expect(three - one).toBeGreaterThanOrEqual(2n * PRICE);
    const { code, log } = chain.send(exec(remove, remove), { from, gas: PRICE + 60_000n });
    expect(code).toBe(11);
    expect(log).toMatch(/^out of gas/);
  });

  test.each([
    ["a type that nothing handles", () => packAny(ParamsSchema, {}), 6, "no handler"],
    ["an unknown type", () => makeAny("/sdk.bank.v1beta1.MsgGift", new Uint8Array()), 2, "unable to resolve type URL"],
    [
      "unknown fields",
      (send: Any) => makeAny(send.typeUrl, Uint8Array.from([...send.value, 0x78, 1])),
      2,
      "unknown field 15",
    ],
  ])("of %s are refused before they run", (_, make, code, text) => {
    const { chain, exec, send } = start();
    const sent = chain.send(exec(make(send())), { from: chain.key("alice") });
    expect(sent.code).toBe(code);
    expect(sent.log).toContain(text);
  });

  test("have one signer, the one given", () => {
    const { chain, exec, send } = start();
    const [alice, bob] = [chain.key("alice").address, chain.key("bob").address];
    const from = chain.key("alice");
    const other = chain.send(exec(send({ fromAddress: bob })), { from });
    expect(other).toMatchObject({ code: 4, codespace: "sdk" });
    expect(other.log).toContain(`must be signed by ${alice}, not ${bob}`);
    const coins = [{ denom: "utoken", amount: "1" }];
    const both = packAny(MsgMultiSendSchema, {
      inputs: [alice, bob].map((address) => ({ address, coins })),
      outputs: [{ address: bob, coins: [{ denom: "utoken", amount: "2" }] }],
    });
    expect(chain.send(exec(both), { from }).log).toContain("is signed by 2 accounts");
  });

  test("are checked as they would be by themselves", () => {
    const { chain, exec, send } = start();
    const { code, log } = chain.send(exec(exec(send({ amount: [] }))), { from: chain.key("alice") });
    expect({ code, log }).toMatchObject({ code: 10, log: expect.stringContaining("no coins given") });
  });
});

describe("limits", () => {
  test(`up to ${MAX_MESSAGE_NESTING} messages stand around one`, () => {
    const { chain, exec, send } = start();
    const from = chain.key("alice");
    chain.mustSend(nested(exec, send(), MAX_MESSAGE_NESTING), { from, gas: 10n ** 6n });
    const { code, log } = chain.send(nested(exec, send(), MAX_MESSAGE_NESTING + 1), { from, gas: 10n ** 6n });
    expect({ code, log }).toMatchObject({ code: 18, log: expect.stringContaining("nested too deeply") });
  });

  test(`one message holds ${MAX_NESTED_MESSAGES} others, however they are nested`, () => {
    const { chain, exec, send } = start();
    const from = chain.key("alice");
    const many = (count: number) => Array.from({ length: count }, () => send());
    chain.mustSend(exec(...many(MAX_NESTED_MESSAGES)), { from, gas: 10n ** 7n });
    chain.mustSend(exec(exec(...many(49)), exec(...many(49))), { from, gas: 10n ** 7n });
    for (const message of [exec(...many(MAX_NESTED_MESSAGES + 1)), exec(exec(...many(49)), exec(...many(50)))])
      expect(chain.send(message, { from, gas: 10n ** 7n }).code).not.toBe(0);
  });

  test("a simulation counts them as well", () => {
    const { chain, exec, send } = start();
    const from = chain.key("alice");
    const message = exec(...Array.from({ length: 63 }, () => send()));
    const simulate = (count: number) => {
      const txBytes = chain.sign(Array<Any>(count).fill(message), { from });
      const data = encodeMessage(SimulateRequestSchema, create(SimulateRequestSchema, { txBytes }));
      return chain.app.query({ path: "/sdk.tx.v1beta1.Service/Simulate", data, height: 0n, prove: false });
    };
    expect(simulate(4)).toMatchObject({ code: 0 });
    expect(simulate(5).log).toContain("a simulation takes at most 256 messages, not 320");
  });

  test("what a message carries beside messages does not count as one", () => {
    const { chain, exec } = start();
    const alice = chain.key("alice");
    const authorization = packAny(GenericAuthorizationSchema, { msg: "/x" });
    const grant = packAny(MsgGrantSchema, { granter: alice.address, grantee: alice.address, grant: { authorization } });
    chain.mustSend(exec(grant), { from: alice });
  });
});
