import { cpSync, renameSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testKey } from "../../src/testing/index.ts";
import { expectSameBlocks } from "../support/agreement.ts";
import { balanceOf, Fixture, mustSend, TestNode, transfer, waitFor } from "../support/index.ts";
import { startValidators } from "../support/validators.ts";
import { buildPeer, Peer } from "./peers.ts";

/** Four validators that make one chain, each a node with CometBFT as its child. */

type Json = ReturnType<typeof JSON.parse>;

const CHAIN = "svc-four-1";
/** More blocks than the test makes. */
const CAREFUL = ["--double-sign-check-height", "1000"];
/** A block costs four nodes and four engines; the test waits for few. */
const REQUEST = { count: 4, chainId: CHAIN, blockIntervalMs: 500 } as const;
/** Consensus in a round that two of four validators voted in, which decides nothing. */
const HALF = /"prevotes_bit_array":"BA\{4:[x_]{4}\} \d+\/\d+ = 0\.50"/;
const peer = await buildPeer("cometbft");

describe.skipIf(!(peer instanceof Peer))("four validators under CometBFT", () => {
  const fixture = new Fixture();
  const [alice, bob] = [testKey("alice"), testKey("bob")];
  const nodes: TestNode[] = [];

  beforeAll(async () => {
    if (!(peer instanceof Peer)) return;
    const { binary: program } = peer;
    nodes.push(...(await startValidators(fixture, { ...REQUEST, program, account: alice })));
  });

  afterAll(async () => {
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  async function heightOf(node: TestNode): Promise<bigint> {
    const client = node.client();
    try {
      return (await client.node.status()).latestHeight;
    } finally {
      client.close();
    }
  }

  /** Resolves when a node has made more blocks. */
  async function moreBlocks(node: TestNode, count = 2n): Promise<bigint> {
    const wanted = (await heightOf(node)) + count;
    return waitFor(async () => ((await heightOf(node)) >= wanted ? wanted : undefined), "more blocks");
  }

  const status = (node: TestNode): Promise<Json> => answer(node, "status");

  const place = ({ home, address, chainId }: TestNode) => ({ home, chainId, port: Number(new URL(address).port) });

  /** Validators whose vote for a block is in its commit; of the last one unless a height is given. */
  async function votersOf(node: TestNode, height?: bigint): Promise<string[]> {
    const { signed_header } = await answer(node, height === undefined ? "commit" : `commit?height=${height}`);
    const votes: Json[] = signed_header.commit.signatures;
    return votes.filter(({ block_id_flag }) => block_id_flag === 2).map(({ validator_address }) => validator_address);
  }

  async function answer(node: TestNode, path: string): Promise<Json> {
    const response = await fetch(`${node.address.replace("tcp:", "http:")}/${path}`);
    return JSON.parse(await response.text()).result;
  }

  /** All nodes say the same of all blocks up to a height. */
  async function expectEqual(height: bigint): Promise<void> {
    for (const node of nodes) await waitFor(async () => (await heightOf(node)) > height, "the height on each node");
    for (let at = 1n; at <= height; at += 1n)
      for (const method of ["block", "block_results"]) {
        const path = `${method}?height=${at}`;
        const [first, ...others] = await Promise.all(nodes.map((node) => answer(node, path)));
        for (const other of others) expect(other, path).toEqual(first);
      }
  }

  /** Sends to one node, and asks another. */
  async function send(from: TestNode, to: TestNode, whole: bigint): Promise<void> {
    const [sender, reader] = [from.client(), to.client()];
    try {
      await mustSend(sender, alice, transfer(alice.address, bob.address, 7n));
      await waitFor(async () => (await balanceOf(reader, bob.address)) === whole, "the balance on another node");
    } finally {
      sender.close();
      reader.close();
    }
  }

  test("lose one and go on, stop without two, and have the same blocks when all are back", async () => {
    const [first, second, third, fourth] = nodes;
    if (first === undefined || second === undefined || third === undefined || fourth === undefined) return;
    await send(first, second, 7n);
    await fourth.process.kill();
    await moreBlocks(first);
    await send(second, first, 14n);
    await third.process.kill();
    const stopped = await waitFor(
      async () => (HALF.test(JSON.stringify(await answer(first, "consensus_state"))) ? heightOf(first) : undefined),
      "votes of the two that are left",
    );
    await fourth.start();
    await moreBlocks(first);
    expect(await heightOf(fourth)).toBeGreaterThan(stopped);
    await third.start();
    await send(third, fourth, 21n);
    await expectEqual(await moreBlocks(first));
  });

  test("one with an old copy of its home signs no height again, and waits where it is asked to look for its votes", async () => {
    const [first, , , fourth] = nodes;
    if (first === undefined || fourth === undefined) return;
    const { address } = (await status(fourth)).validator_info;
    const copy = `${fourth.home}-yesterday`;
    await fourth.process.stop();
    cpSync(fourth.home, copy, { recursive: true });
    await fourth.start();
    await waitFor(async () => (await votersOf(first)).includes(address), "votes of the fourth validator");
    await fourth.process.stop();
    const last = await heightOf(first);
    rmSync(fourth.home, { recursive: true });
    renameSync(copy, fourth.home);
    const restored = new TestNode(fixture, { ...place(fourth), args: [...fourth.args, ...CAREFUL] });
    await restored.start();
    await restored.process.line(/ended and is started again.*found signature from the same key/);
    const end = await moreBlocks(first, 3n);
    for (let at = last + 2n; at <= end; at += 1n) expect(await votersOf(first, at)).not.toContain(address);
    await restored.process.stop();
    // Without the search it votes on the blocks that come now.
    await fourth.start();
    await waitFor(async () => (await votersOf(first)).includes(address), "votes of the restored validator");
    const rpcs = nodes.map((node) => node.address.replace("tcp:", "http:"));
    const whole = await expectSameBlocks(rpcs, Number(await moreBlocks(first)));
    for (let at = 1; at <= whole; at++)
      expect((await answer(first, `block?height=${at}`)).block.evidence.evidence, `evidence in ${at}`).toEqual([]);
  });
});
