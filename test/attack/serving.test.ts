import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signTx } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { Query as AuthQuery } from "../../src/wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { Service } from "../../src/wire/gen/sdk/tx/v1beta1/service_pb.js";
import { type GenesisFile, waitFor } from "../support/index.ts";
import { freePorts } from "../support/ports.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { strangerAddress } from "./lib/large.ts";
import { besiege } from "./lib/siege.ts";
import { runInThreads } from "./lib/threads.ts";

const THROW = 'setTimeout(() => { throw new Error("injected") })';
const FILL = "setTimeout(() => { const all = []; for (;;) all.push(new Array(100_000).fill({})) })";
const ROWS = 60_000;

/** Accounts without coins: a list with many rows. */
function manyAccounts({ app_state }: GenesisFile): void {
  const accounts = app_state.auth?.accounts;
  if (!Array.isArray(accounts)) throw new Error("the genesis file has no accounts");
  const first = accounts.length;
  for (let i = 0; i < ROWS; i++) {
    const number = { account_number: `${first + i}`, sequence: "0" };
    accounts.push({ "@type": "/sdk.auth.v1beta1.BaseAccount", address: strangerAddress(i), ...number });
  }
}

describe("the thread that serves strangers", () => {
  let node: AttackedNode;
  let inspector = 0;
  beforeAll(async () => {
    [inspector = 0] = await freePorts(1);
    node = await AttackedNode.start({ nodeFlags: [`--inspect=127.0.0.1:${inspector}`] });
  });
  afterAll(() => node?.close());

  it.each([
    ["throws", THROW],
    ["takes all memory that it may have", FILL],
  ])("is started again at its port when it %s, and blocks go on meanwhile", async (_, expression) => {
    const { output } = node.node.process;
    const ends = (text: string): number => text.split("the serving thread ended").length;
    const before = await node.height();
    await runInThreads(inspector, expression);
    const { process } = node.node;
    // On a busy machine V8 looks for garbage for long before it gives up.
    await waitFor(() => ends(process.output) > ends(output), "the end of the thread", { timeoutMs: 200_000 });
    const height = await waitFor(() => node.height().catch(() => undefined), "an answer", { timeoutMs: 60_000 });
    expect(height).toBeGreaterThan(before);
    const message = create(MsgSendSchema, {
      fromAddress: node.key("alice").address,
      toAddress: node.key("mallory").address,
      amount: [{ denom: NATIVE_DENOM, amount: "1" }],
    });
    await node.mustSend("alice", [message]);
    expect(process.running).toBe(true);
  });

  it("hands on proofs of the state, which the other thread makes", async () => {
    const asked = { path: "/store/auth/key", data: "02", prove: true };
    const { response } = (await node.client.rpc.call("abci_query", asked)) as {
      response: { code: number; proofOps: { ops: { type: string }[] } | null };
    };
    expect(response).toMatchObject({ code: 0, proofOps: { ops: [{ type: expect.any(String) }, {}] } });
  });
});

describe("a simulation", () => {
  it("comes behind what waits for a block of the same signer", async () => {
    const node = await AttackedNode.start({ blockIntervalMs: 20_000 });
    try {
      const alice = node.key("alice");
      const message = create(MsgSendSchema, {
        fromAddress: alice.address,
        toAddress: node.key("mallory").address,
        amount: [{ denom: NATIVE_DENOM, amount: "1" }],
      });
      const simulate = (sequence: bigint) => {
        const txBytes = signTx(node.node.chainId, [message], [{ key: alice, accountNumber: 1n, sequence }]);
        return node.query(Service.method.simulate, { txBytes });
      };
      expect((await simulate(0n)).gasInfo?.gasUsed).toBeGreaterThan(0n);
      const height = await node.height();
      const { code, log } = await node.client.node.broadcast(node.sign("alice", [message]), "sync");
      expect({ code, log }).toMatchObject({ code: 0 });
      expect((await simulate(1n)).gasInfo?.gasUsed).toBeGreaterThan(0n);
      await expect(simulate(0n)).rejects.toThrow("account sequence mismatch, expected 1, got 0");
      expect(await node.height(), "the block came too early for this test").toBe(height);
    } finally {
      await node.close();
    }
  });
});

describe("lists with many rows", () => {
  let node: AttackedNode;
  beforeAll(async () => {
    // The invariants of so many accounts would be most of a block's work, and no part of the attack.
    node = await AttackedNode.start({ editGenesis: manyAccounts, checkInvariants: false });
  });
  afterAll(() => node?.close());

  it("hold back no block and nobody else when strangers walk far into them side by side", async () => {
    const page = (offset: number) =>
      node.query(AuthQuery.method.accounts, { pagination: { offset: BigInt(offset), limit: 10n } });
    expect((await page(49_000)).accounts).toHaveLength(10);
    await expect(page(51_000)).rejects.toThrow("more than 50000 rows would be walked past");
    await besiege(node, () => Promise.allSettled(Array.from({ length: 8 }, () => page(49_000))), {
      blockShare: 0.5,
      // Within a second there are two or three blocks.
      atLeastMs: 3_000,
    });
  });
});
