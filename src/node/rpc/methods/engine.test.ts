import { expect, test } from "vitest";
import { KvNetwork, kvTx } from "../../../../test/support/block-engine/network.ts";
import { type ChainSource, embeddedSource } from "../../../engine/index.ts";
import { CommitWaiters } from "../../services/commit-waiters.ts";
import type { RpcEnvironment } from "../calls/method.ts";
import { RPC_METHODS } from "./index.ts";

/** A chain of one block that accuses a validator, made by an engine beside the node. */
function besideEngine() {
  const engine = new KvNetwork().engine();
  engine.mempool.add(kvTx("a=1"));
  engine.produceBlock();
  const source = embeddedSource(engine);
  const asked: unknown[] = [];
  const chain: ChainSource = {
    ...source,
    blocks: {
      ...source.blocks,
      record: async (height) => {
        const record = await source.blocks.record(height);
        return record && { ...record, header: { ...record.header, evidenceHash: new Uint8Array(32) } };
      },
    },
    ask: async (method, params) => {
      asked.push([method, params]);
      return method === "block" ? { block: { evidence: { evidence: [{ type: "of two votes" }] } } } : { from: method };
    },
  };
  const refuse = () => {
    throw new Error("not asked here");
  };
  const genesis = { size: refuse, read: refuse };
  const env: RpcEnvironment = {
    ...{ chain, genesis, query: refuse, nodeInfo: refuse },
    waiters: new CommitWaiters(source.events),
  };
  const call = async (name: string, params: Readonly<Record<string, unknown>> = {}) =>
    RPC_METHODS.get(name)?.call(env, (param) => params[param], "json");
  return { asked, call };
}

test.each(["health", "net_info", "consensus_state", "dump_consensus_state"])(
  "an engine beside the node answers %s",
  async (name) => {
    expect(await besideEngine().call(name)).toEqual({ from: name });
  },
);

test("an engine beside the node judges evidence", async () => {
  const { asked, call } = besideEngine();
  const evidence = { type: "tendermint/DuplicateVoteEvidence", value: {} };
  await call("broadcast_evidence", { evidence });
  expect(asked).toEqual([["broadcast_evidence", { evidence }]]);
});

test("a block has the evidence that an engine beside the node keeps", async () => {
  const { asked, call } = besideEngine();
  expect(await call("block", { height: "1" })).toMatchObject({
    block: { header: { height: "1" }, evidence: { evidence: [{ type: "of two votes" }] } },
  });
  expect(asked).toEqual([["block", { height: "1" }]]);
});

test("an engine beside the node answers for the validators, whose turns to propose it knows", async () => {
  const { asked, call } = besideEngine();
  expect(await call("validators", { height: "7", per_page: "3" })).toEqual({ from: "validators" });
  expect(asked).toEqual([["validators", { height: "7", per_page: "3" }]]);
});
