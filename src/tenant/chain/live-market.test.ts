import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { groupSpec, resourceRow } from "../../../test/support/chain/index.ts";
import { ChainClient, sendTx } from "../../client/index.ts";
import { testNode } from "../../testing/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { packAny } from "../../wire/index.ts";
import { liveMarket } from "./live-market.ts";
import { createDeployment } from "./messages.ts";

/** Long enough that both transactions come between the same two blocks. */
const BLOCK_MS = 2000;

test("a deployment too large for the usual gas is paid for once, with the gas that it needs", async () => {
  const node = await testNode();
  const chain = new ChainClient(node.url);
  onTestFinished(async () => {
    chain.close();
    await node.stop();
  });
  const { address, publicKey, ...key } = node.key("alice");
  const signer = { address, publicKey, sign: async (bytes: Uint8Array) => key.sign(bytes) };
  const resources = Array.from({ length: 20 }, (_, i) => resourceRow({ id: i + 1 }));
  const groups = Array.from({ length: 20 }, (_, i) => create(GroupSpecSchema, { ...groupSpec(`g${i}`), resources }));
  const deposit = { denom: "utoken", amount: 5_000_000n };
  const message = createDeployment({
    id: { owner: address, dseq: 7n },
    groups,
    version: new Uint8Array(32).fill(1),
    deposit,
  });
  const market = await liveMarket({ chain, signer, tx: {}, signal: new AbortController().signal });
  await market.send([message]);
  expect((await market.deployment(7n))?.groups).toHaveLength(20);
});

test("a transaction that an interrupted run has left in the mempool is waited for", async () => {
  const node = await testNode({ blockIntervalMs: BLOCK_MS });
  const chain = new ChainClient(node.url);
  onTestFinished(async () => {
    chain.close();
    await node.stop();
  });
  const { address, publicKey, ...key } = node.key("alice");
  const signer = { address, publicKey, sign: async (bytes: Uint8Array) => key.sign(bytes) };
  const amount = [{ denom: "utoken", amount: "1" }];
  const message = packAny(MsgSendSchema, { fromAddress: address, toAddress: node.key("bob").address, amount });
  const { signal } = new AbortController();
  const market = await liveMarket({ chain, signer, tx: {}, signal });
  const height = await market.height();
  expect(await market.nextBlock(height, signal)).toBeGreaterThan(height);
  const interrupted = await sendTx(chain, signer, [message], { mode: "sync" });
  expect(interrupted.code).toBe(0);
  expect(await market.send([message])).toMatchObject({ hash: interrupted.txhash });
});
