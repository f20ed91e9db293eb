import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { GroupSpecSchema } from "../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { MsgCreateDeploymentSchema } from "../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { coin } from "../support/chain/index.ts";
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

describe("transactions of 700 kB of empty parts, signed by somebody who has the fee", () => {
  const group = (count: number) => create(GroupSpecSchema, { resources: Array.from({ length: count }, () => ({})) });
  const crowded = (groups: number, resources = 0): Uint8Array => {
    const from = node.key("mallory").address;
    const message = create(MsgCreateDeploymentSchema, {
      id: { owner: from, dseq: 1n },
      groups: Array.from({ length: groups }, () => group(resources)),
      version: new Uint8Array(32),
    });
    const tx = node.sign("mallory", [message], { gas: 30_000_000n });
    node.unsign("mallory");
    return tx;
  };

  it.each([
    ["350,000 groups", 350_000, 0, "more than 4096 items of field groups"],
    ["85 groups of 4,000 resources", 85, 4_000, "more than 100000 fields"],
  ])("are refused before they are read: %s", async (_, groups, resources, reason) => {
    expect(await checked(crowded(groups, resources))).toContain(reason);
  });

  it("keep no block waiting, nor others, and pay nothing", async () => {
    const before = await node.balances();
    const bodies = [crowded(350_000), crowded(85, 4_000)].map((tx) =>
      callText("broadcast_tx_sync", { tx: base64Of(tx) }),
    );
    await besiege(node, () => Promise.all([...bodies, ...bodies].map((body) => ask(node.door, "/", body))));
    expect(await node.balances()).toEqual(before);
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
