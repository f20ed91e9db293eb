import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestMessage } from "../../src/testing/index.ts";
import { MsgExecSchema } from "../../src/wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { packAny } from "../../src/wire/index.ts";
import { coin } from "../support/chain/index.ts";
import { freePorts } from "../support/ports.ts";
import { AttackedNode, FUNDS } from "./lib/attacked-node.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText, type Door } from "./lib/sockets.ts";

/** Messages in one another that a transaction may have, the transfer at the bottom included. */
const DEEPEST = 7;
/** Far beyond what any reader may follow. */
const BOTTOMLESS = 500;

let node: AttackedNode;
let rest: Door;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  rest = { host: "127.0.0.1", port };
  node = await AttackedNode.start({ flags: ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`] });
});
afterAll(() => node?.close());

/** A transfer in an execution in an execution and so on, this many messages in all; each holds `width` of the next. */
function nested(depth: number, width = 1): TestMessage {
  const { address } = node.key("mallory");
  const transfer = create(MsgSendSchema, { fromAddress: address, toAddress: address, amount: [coin(1n)] });
  let any = packAny(MsgSendSchema, transfer);
  for (let i = 2; i < depth; i++)
    any = packAny(MsgExecSchema, create(MsgExecSchema, { grantee: address, msgs: Array(width).fill(any) }));
  return create(MsgExecSchema, { grantee: address, msgs: Array(width).fill(any) });
}

function signed(message: TestMessage): string {
  const tx = node.sign("mallory", [message], { gas: 30_000_000n });
  node.unsign("mallory");
  return Buffer.from(tx).toString("base64");
}

const checked = async (tx: string): Promise<string> => (await ask(node.door, "/", callText("check_tx", { tx }))).text;

describe("messages that carry messages that carry messages", () => {
  it("are taken as deep as is allowed, and refused one deeper and without a bottom", async () => {
    expect(await checked(signed(nested(DEEPEST)))).toContain('"code":0');
    expect(await checked(signed(nested(DEEPEST + 1)))).toContain("nested too deeply: at most 6 around one");
    expect(await checked(signed(nested(BOTTOMLESS)))).toContain("max depth exceeded");
  });

  it("keep no block waiting, nor others, deep, wide and without a bottom", async () => {
    const txs = [nested(DEEPEST), nested(DEEPEST, 3), nested(BOTTOMLESS)].map(signed);
    const calls = txs.flatMap((tx) => [callText("check_tx", { tx }), callText("broadcast_tx_sync", { tx })]);
    const simulations = txs.map((tx) => JSON.stringify({ tx_bytes: tx }));
    await besiege(node, () =>
      Promise.all([
        ...calls.map((call) => ask(node.door, "/", call)),
        ...simulations.map((body) => ask(rest, "/cosmos/tx/v1beta1/simulate", body)),
        ...simulations.map((body) => ask(rest, "/cosmos/tx/v1beta1/decode", body)),
      ]),
    );
    expect((await node.balances())[1]).toBe(FUNDS);
  });

  it.each([
    ["objects", '{"a":', "}"],
    ["lists", "[", "]"],
  ])("and JSON of %s in one another ends nothing", async (_, open, close) => {
    const text = `${open.repeat(100_000)}1${close.repeat(100_000)}`;
    const answers = await Promise.all([
      ask(node.door, "/", text),
      ask(rest, "/cosmos/tx/v1beta1/simulate", text),
      ask(rest, "/cosmos/tx/v1beta1/encode/amino", text),
    ]);
    for (const { status } of answers) expect(status).toBeGreaterThanOrEqual(200);
    expect((await ask(node.door, "/", callText("health"))).text).toContain('"result":{}');
    expect(node.node.process.running).toBe(true);
  });
});
