import { copyFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { homePaths, initHome } from "../../src/node/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { balanceOf, Fixture, freePorts, mustSend, startNode, TestNode, transfer, waitFor } from "../support/index.ts";

/** A node that executes the blocks of another one, in processes that are killed. */

const CHAIN = "svc-follow-1";

describe("a node that follows another", () => {
  const fixture = new Fixture();
  const [alice, bob] = [testKey("alice"), testKey("bob")];

  afterAll(() => fixture.close());

  async function newFollower(leader: TestNode): Promise<TestNode> {
    const home = fixture.tempHome();
    initHome({ home, moniker: "follower", chainId: CHAIN });
    copyFileSync(homePaths(leader.home).genesis, homePaths(home).genesis);
    const [port = 0] = await freePorts(1);
    const places = ["--home", home, "--rpc.laddr", `tcp://127.0.0.1:${port}`, "--grpc.enable=false"];
    return new TestNode(fixture, {
      ...{ home, chainId: CHAIN, port },
      args: ["start", ...places, "--follow", leader.address],
    });
  }

  async function answer(node: TestNode, path: string) {
    const response = await fetch(`${node.address.replace("tcp:", "http:")}/${path}`);
    return JSON.parse(await response.text()).result;
  }

  const heightOf = async (node: TestNode) => Number((await answer(node, "status")).sync_info.latest_block_height);

  /** Resolves when a node has made or executed more blocks. */
  async function moreBlocks(node: TestNode): Promise<number> {
    const before = await heightOf(node);
    return waitFor(async () => ((await heightOf(node)) > before + 2 ? heightOf(node) : undefined), "more blocks");
  }

  test("sends through it, has its blocks and state, and survives kills of either", async () => {
    const accounts = [{ address: alice.address, coins: [{ denom: "utoken", amount: 1_000_000n }] }];
    const leader = await startNode(fixture, { accounts, chainId: CHAIN, checkInvariants: true });
    const follower = await newFollower(leader);
    await follower.start();
    let sent = 0n;
    const send = async () => {
      const client = follower.client();
      await mustSend(client, alice, transfer(alice.address, bob.address, 7n));
      sent += 7n;
      expect(await balanceOf(client, bob.address)).toBe(sent);
      client.close();
    };
    await send();
    for (const killed of [follower, leader]) {
      await killed.process.kill();
      if (killed === leader) expect(await heightOf(follower)).toBeGreaterThan(0);
      await killed.start();
      await moreBlocks(follower);
      await send();
    }
    const last = await moreBlocks(follower);
    // Each block has the hash of the one before.
    for (let at = last - 9; at <= last; at++)
      for (const method of ["block", "block_results", "commit", "validators"]) {
        const path = `${method}?height=${at}`;
        const [ours, theirs] = await Promise.all([follower, leader].map((node) => answer(node, path)));
        expect(ours, path).toEqual(theirs);
      }
    expect((await answer(follower, "status")).sync_info.catching_up).toBe(false);
  });
});
