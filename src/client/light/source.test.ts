import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inOrder, LightChain, member, SECOND, START, silentMember } from "../../../test/support/light/chain.ts";
import { NodeDouble, Refusal } from "../../../test/support/node-double.ts";
import { hashOf, LightClient, type LightClientOptions, signedHeaderJson, validatorsJson } from "../../light/index.ts";
import { testNode } from "../../testing/index.ts";
import { RpcClient } from "../rpc/rpc.ts";
import { rpcSource } from "./source.ts";

const MEMBERS = inOrder([member(1, 1000n), ...Array.from({ length: 149 }, (_, i) => silentMember(i))]);
const CHAIN = new LightChain();
for (let i = 0; i < 3; i += 1) CHAIN.add({ members: MEMBERS, votes: (place) => (place === 0 ? 2 : 1) });

const node = new NodeDouble();
let rpc: RpcClient;

function client(options: Partial<LightClientOptions> = {}): LightClient {
  const root = { height: 1n, hash: hashOf(CHAIN.at(1).header) };
  const now = () => START + 10n * SECOND;
  return new LightClient({ chainId: "light-1", root, primary: rpcSource(rpc), now, ...options });
}

beforeEach(async () => {
  await node.start();
  rpc = new RpcClient(node.address);
  node.seen.length = 0;
  node.methods.commit = ({ height = "3" }) => {
    const block = CHAIN.blocks[Number(height) - 1];
    if (block === undefined) {
      throw new Refusal(`height ${height} must be less than or equal to the current blockchain height 3`);
    }
    return { signed_header: signedHeaderJson(block), canonical: true };
  };
  node.methods.validators = ({ page }) => {
    const from = (Number(page) - 1) * 100;
    return { validators: validatorsJson(MEMBERS.slice(from, from + 100)), total: String(MEMBERS.length) };
  };
  node.methods.broadcast_evidence = () => ({ hash: "" });
});

afterEach(async () => {
  rpc.close();
  await node.stop();
});

describe("a node as a source of blocks", () => {
  it("gives headers with votes, and sets of validators in pages", async () => {
    expect((await client().latest()).header.height).toBe(3n);
    expect(node.seen).toEqual(["commit", "validators", "validators", "commit"]);
  });

  it("does not have heights that its node does not have", async () => {
    const source = rpcSource(rpc);
    expect(await source.signedHeader(4n)).toBeUndefined();
    await expect(client().at(4n)).rejects.toThrow("does not have block 4");
    node.methods.commit = () => {
      throw new Refusal("out of order");
    };
    await expect(source.signedHeader(4n)).rejects.toThrow("out of order");
  });

  it.each<[string, (answer: ReturnType<typeof signedHeaderJson>) => unknown, string]>([
    ["no votes", ({ header }) => ({ header }), "commit"],
    ["a height that is no number", ({ header, commit }) => ({ header: { ...header, height: "x" }, commit }), "height"],
    [
      "a time that is none",
      ({ header, commit }) => ({ header: { ...header, time: "2026-13-01T00:00:00Z" }, commit }),
      "time",
    ],
    ["a hash of half a byte", ({ header, commit }) => ({ header: { ...header, app_hash: "ABC" }, commit }), "app_hash"],
    [
      "a flag that is none",
      ({ header, commit }) => ({ header, commit: { ...commit, signatures: [{ block_id_flag: 4 }] } }),
      "signatures.0.block_id_flag",
    ],
    ["text", () => "block", "content"],
  ])("refuses an answer with %s", async (_, change, field) => {
    node.methods.commit = () => ({ signed_header: change(signedHeaderJson(CHAIN.at(3))) });
    await expect(rpcSource(rpc).signedHeader()).rejects.toThrow(`the signed header has no readable `);
    await expect(rpcSource(rpc).signedHeader()).rejects.toThrow(field);
  });

  it("refuses keys of other kinds, and pages without end", async () => {
    node.methods.validators = () => ({
      validators: [
        { address: "00", pub_key: { type: "tendermint/PubKeySecp256k1", value: "AA==" }, voting_power: "1" },
      ],
      total: "1",
    });
    await expect(client().latest()).rejects.toThrow("the set of validators has no readable 0.pub_key.type");
    node.methods.validators = () => ({ validators: validatorsJson(MEMBERS.slice(0, 1)), total: "100000" });
    await expect(client().latest()).rejects.toThrow("more than 10000 validators");
  });
});

it("a node of our own chain is verified", async () => {
  const own = await testNode({ accounts: ["alice"] });
  const ownRpc = new RpcClient(own.url);
  try {
    const primary = rpcSource(ownRpc);
    const first = await primary.signedHeader(1n);
    if (first === undefined) throw new Error("the node has made a block");
    const { chainId, height } = first.header;
    const light = new LightClient({ chainId, root: { height, hash: hashOf(first.header) }, primary });
    expect((await light.latest()).header.height).toBeGreaterThanOrEqual(1n);
  } finally {
    ownRpc.close();
    await own.stop();
  }
});
