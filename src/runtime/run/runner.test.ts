import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { NO_VOTERS } from "../../abci/index.ts";
import { DatabaseFault } from "../../store/index.ts";
import { type TestChain, testChain, toAny } from "../../testing/index.ts";
import { defineErrors } from "../../util/index.ts";
import { MsgSendResponseSchema, MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { TxMsgDataSchema } from "../../wire/gen/sdk/base/abci/v1beta1/abci_pb.js";
import {
  GenesisStateSchema,
  Msg,
  MsgDeleteProviderAttributesResponseSchema,
  MsgDeleteProviderAttributesSchema,
  MsgSignProviderAttributesSchema,
} from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { decodeMessage, packAny, typeUrlOf } from "../../wire/index.ts";
import { bindService, type Context, defineGenesis, defineModule, type Module } from "../index.ts";

const errors = defineErrors("probe", { refused: [2, "refused on purpose"] });

interface Behaviour {
  readonly sign?: (ctx: Context) => void;
  readonly gas?: bigint;
  readonly beginBlock?: (ctx: Context) => void;
  readonly endBlock?: (ctx: Context) => undefined;
}

/** A module under the message names of module audit, doing what a test says. */
function probe({ sign = () => {}, gas, ...items }: Behaviour): Module {
  return defineModule({
    name: "audit",
    msg: bindService(Msg, {
      signProviderAttributes: (ctx) => {
        ctx.events.emit("svc.v1", { module: "probe" });
        sign(ctx);
        return {};
      },
      deleteProviderAttributes: (ctx) => {
        ctx.store("audit").set(Uint8Array.of(1), new Uint8Array(1000));
        return {};
      },
      updateParams: () => ({}),
    }),
    genesis: defineGenesis({
      schema: GenesisStateSchema,
      defaults: () => create(GenesisStateSchema),
      init: () => {},
      export: () => create(GenesisStateSchema),
    }),
    ...(gas === undefined ? {} : { messageGas: () => gas }),
    ...items,
  });
}

function chainWith(behaviour: Behaviour, tolerateProblems = false): TestChain {
  return testChain({ modules: () => [probe(behaviour)], tolerateProblems });
}

function signMessage(chain: TestChain) {
  const { address } = chain.key("alice");
  return create(MsgSignProviderAttributesSchema, { auditor: address, owner: address });
}

function deleteMessage(chain: TestChain) {
  return create(MsgDeleteProviderAttributesSchema, { auditor: chain.key("alice").address });
}

function send(chain: TestChain) {
  const { address } = chain.key("alice");
  const to = chain.key("bob").address;
  return create(MsgSendSchema, { fromAddress: address, toAddress: to, amount: [{ denom: "utoken", amount: "1" }] });
}

const fee = [{ denom: "utoken", amount: 500n }];

describe("results", () => {
  test("responses carry the spelling of their message", () => {
    const chain = chainWith({});
    const from = chain.key("alice");
    const messages = [send(chain), packAny(MsgSendSchema, send(chain), "cosmos"), deleteMessage(chain)];
    const { data } = chain.mustSend(messages, { from });
    const urls = decodeMessage(TxMsgDataSchema, data).msgResponses.map(({ typeUrl }) => typeUrl);
    expect(urls).toEqual([
      typeUrlOf(MsgSendResponseSchema),
      typeUrlOf(MsgSendResponseSchema, "cosmos"),
      typeUrlOf(MsgDeleteProviderAttributesResponseSchema),
    ]);
  });

  test("the log of a marketplace message begins with the fee, that of a transfer does not", () => {
    const chain = chainWith({});
    const from = chain.key("alice");
    const first = chain.mustSend([signMessage(chain), send(chain)], { from, fee }).logs;
    expect(first.map(({ events }) => events.map(({ type }) => type))).toEqual([
      ["message", "svc.v1", "transfer"],
      ["message", "transfer"],
    ]);
    expect(first[0]?.events[0]?.attributes).toEqual([
      { key: "action", value: "audit-sign-provider-attributes" },
      { key: "sender", value: from.address },
    ]);
    expect(first[0]?.events[2]?.attributes.at(-1)).toEqual({ key: "amount", value: "500utoken" });
    const second = chain.mustSend([send(chain), signMessage(chain)], { from, fee });
    expect(second.logs[0]?.events.at(-1)?.attributes.at(-1)).toEqual({ key: "amount", value: "1utoken" });
    expect(second.log.startsWith('[{"events":')).toBe(true);
    expect(second.log).toContain('},{"msg_index":1,"events":');
    const indexes = second.events.map(({ attributes }) => attributes.find(({ key }) => key === "msg_index")?.value);
    expect([...new Set(indexes)]).toEqual([undefined, "0", "1"]);
  });

  test("markup in events cannot leave the log", () => {
    const chain = chainWith({ sign: (ctx) => ctx.events.emit("svc.v1", { name: "<script>&\u2028" }) });
    const { log, logs } = chain.mustSend(signMessage(chain), { from: chain.key("alice") });
    expect(log).not.toMatch(/[<>&\u2028]/);
    expect(logs[0]?.events[1]?.attributes[1]?.value).toBe("<script>&\u2028");
  });

  test("a database that cannot be read is no result: the block ends", () => {
    const fault = new DatabaseFault(new Error("MDB_CORRUPTED"));
    const chain = chainWith({
      sign: () => {
        throw fault;
      },
    });
    const height = chain.app.info().lastBlockHeight;
    expect(() => chain.send(signMessage(chain), { from: chain.key("alice"), fee })).toThrow(fault);
    expect(chain.app.info().lastBlockHeight).toBe(height);
  });

  test("one failing message undoes them all and names itself", () => {
    const chain = chainWith({
      sign: () => {
        throw errors.refused("here");
      },
    });
    const from = chain.key("alice");
    const sent = chain.send([send(chain), signMessage(chain)], { from, fee });
    expect(sent).toMatchObject({
      code: 2,
      codespace: "probe",
      log: "failed to execute message; message index: 1: here: refused on purpose",
    });
    const types = ["tx", "tx", "coin_spent", "coin_received", "transfer", "message", "tx"];
    expect(sent.events.map(({ type }) => type)).toEqual(types);
    expect(chain.balance(from.address)).toBe(10n ** 12n - 500n);
  });

  test("a programming error has one text on every machine and is reported", () => {
    const chain = chainWith(
      {
        sign: () => {
          throw new TypeError(`differs ${process.pid}`);
        },
      },
      true,
    );
    const sent = chain.send(signMessage(chain), { from: chain.key("alice"), fee });
    expect(sent).toMatchObject({
      code: 111222,
      codespace: "undefined",
      log: "internal error while executing, see the log of the node: panic",
    });
    expect(chain.problems.map(({ item, error }) => [item, String(error)])).toEqual([
      ["transaction", `TypeError: differs ${process.pid}`],
    ]);
  });
});

describe("gas", () => {
  test("a priced message costs its price, the bytes and the signature, whatever it stores within the price", () => {
    const chain = chainWith({ gas: 20_000n });
    const from = chain.key("alice");
    for (const make of [deleteMessage, signMessage]) {
      const tx = chain.sign(make(chain), { from, gas: 200_000n });
      const [result] = chain.block([tx]);
      const gasUsed = 20_000n + 10n * BigInt(tx.length) + 10_000n;
      expect(result).toMatchObject({ code: 0, gasUsed, gasWanted: 200_000n });
    }
  });

  test("what a priced message stores beyond its price is paid before it is stored", () => {
    const chain = chainWith({ gas: 5000n });
    const from = chain.key("alice");
    const tx = chain.sign(deleteMessage(chain), { from });
    const ante = 10n * BigInt(tx.length) + 10_000n;
    expect(chain.block([tx])[0]).toMatchObject({ code: 0, gasUsed: ante + 1000n + 15n * 1001n });
    const poor = chain.sign(deleteMessage(chain), { from, gas: 25_000n });
    const [refused] = chain.block([poor]);
    expect(refused).toMatchObject({ codespace: "sdk", code: 11, log: expect.stringContaining("WritePerByte") });
  });

  test("other messages pay for what they store", () => {
    const chain = chainWith({});
    const tx = chain.sign(deleteMessage(chain), { from: chain.key("alice") });
    const [result] = chain.block([tx]);
    expect(result?.gasUsed).toBe(10n * BigInt(tx.length) + 10_000n + 1000n + 15n * 1001n);
  });

  test("running out takes the fee and drops the changes", () => {
    const chain = chainWith({ gas: 500_000n });
    const from = chain.key("alice");
    const sent = chain.send(signMessage(chain), { from, fee, gas: 200_000n });
    expect(sent).toMatchObject({ code: 11, codespace: "sdk", gasWanted: 200_000n });
    expect(sent.log).toMatch(
      /^out of gas in location: MsgSignProviderAttributes; gasWanted: 200000, gasUsed: 51\d{4}: out of gas$/,
    );
    expect(chain.balance(from.address)).toBe(10n ** 12n - 500n);
    expect(chain.account(from.address).sequence).toBe(1n);
  });

  test("a transfer with the documented fee fits the default limit", () => {
    const chain = chainWith({});
    const sent = chain.mustSend(send(chain), { from: chain.key("alice"), fee, gas: 200_000n });
    expect(sent.gasUsed).toBeLessThan(20_000n);
  });
});

describe("block items", () => {
  test("are contained, reported, and do not stop the others", () => {
    const chain = chainWith(
      {
        beginBlock: (ctx) => {
          ctx.store("audit").set(Uint8Array.of(9), Uint8Array.of(9));
          throw errors.refused("begin");
        },
        endBlock: (ctx) => {
          ctx.events.emit("seen", { kept: String(ctx.store("audit").has(Uint8Array.of(9))) });
          if (ctx.height === 2n) throw new RangeError("machine specific");
        },
      },
      true,
    );
    const height = chain.height + 1n;
    const { events } = chain.app.finalizeBlock({
      ...NO_VOTERS,
      txs: [],
      height,
      time: chain.time + 1n,
      proposer: new Uint8Array(20),
      hash: new Uint8Array(32),
    });
    const plain = events.map(({ type, attributes }) => [type, ...attributes.map(({ value }) => value)]);
    expect(plain).toEqual([
      ["block_item_failed", "audit/begin_block", "probe", "2", "begin: refused on purpose"],
      [
        "block_item_failed",
        "audit/end_block",
        "undefined",
        "111222",
        "internal error while executing, see the log of the node: panic",
      ],
    ]);
    expect(chain.problems.at(-1)?.error).toBeInstanceOf(RangeError);
  });
});

test("toAny keeps what is an Any already", () => {
  const any = packAny(MsgSendSchema, {}, "cosmos");
  expect(toAny(any)).toBe(any);
});
