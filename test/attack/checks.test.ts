import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { coin } from "../../src/testing/index.ts";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { AttackedNode, FUNDS } from "./lib/attacked-node.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText } from "./lib/sockets.ts";

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start();
});
afterAll(() => node?.close());

/** A transfer of mallory's to alice. */
function transfer(amount: bigint) {
  const [from, to] = [node.key("mallory"), node.key("alice")];
  return create(MsgSendSchema, { fromAddress: from.address, toAddress: to.address, amount: [coin(amount)] });
}

const base64Of = (tx: Uint8Array): string => Buffer.from(tx).toString("base64");
const checked = async (tx: Uint8Array): Promise<string> =>
  (await ask(node.door, "/", callText("check_tx", { tx: base64Of(tx) }))).text;

describe("transactions that strangers have checked and do not send", () => {
  it("change nothing for those that are sent: neither sequence nor balance, however often", async () => {
    const tx = node.sign("mallory", [transfer(FUNDS)]);
    // Were the first one kept, the second would have a used sequence and no money.
    for (let i = 0; i < 20; i++) expect(await checked(tx)).toContain('"code":0');
    expect((await ask(node.door, "/", callText("num_unconfirmed_txs"))).text).toContain('"total":"0"');
    const before = await node.height();
    node.unsign("mallory");
    await node.mustSend("mallory", [transfer(1n)]);
    expect(await node.height()).toBeGreaterThan(before);
    expect(await node.balances()).toEqual([FUNDS - 1n, FUNDS + 1n]);
    expect(await checked(tx)).toContain('"code":32');
  });

  it("keep no block waiting, nor others, in any number", async () => {
    const tx = node.sign("mallory", [transfer(1n)]);
    node.unsign("mallory");
    const body = callText("check_tx", { tx: base64Of(tx) });
    await besiege(node, () => Promise.all(Array.from({ length: 50 }, () => ask(node.door, "/", body))));
  });
});

describe("the state of the engine", () => {
  it.each(["consensus_state", "dump_consensus_state"])("is told by %s at the height of the chain", async (method) => {
    const before = await node.height();
    const { text } = await ask(node.door, "/", callText(method));
    const found = /"height(?:\/round\/step)?":"(\d+)/.exec(text)?.[1];
    expect(BigInt(found ?? "0")).toBeGreaterThanOrEqual(before);
  });
});
