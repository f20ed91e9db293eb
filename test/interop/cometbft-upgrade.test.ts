import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testKey } from "../../src/testing/index.ts";
import { Fixture, svcOk, type TestNode, waitFor } from "../support/index.ts";
import { buildNextProgram } from "../support/next-program.ts";
import { startValidators } from "../support/validators.ts";
import { buildPeer, Peer } from "./peers.ts";

/** Four validators with a planned upgrade. The program with it is built here. */

const HEIGHT = 15;
const peer = await buildPeer("cometbft");

describe.skipIf(!(peer instanceof Peer))("an upgrade of four validators", () => {
  const fixture = new Fixture();
  const nodes: TestNode[] = [];
  let next = "";

  beforeAll(async () => {
    if (!(peer instanceof Peer)) return;
    next = buildNextProgram(fixture.tempHome("program"));
    const chain = { count: 4, chainId: "svc-upgrade-1", program: peer.binary, account: testKey("alice") };
    const editGenesis = ({ app_state }: { app_state: Record<string, unknown> }): void => {
      app_state.upgrade = { plan: { name: "v2", height: `${HEIGHT}`, info: "the next program" } };
    };
    nodes.push(...(await startValidators(fixture, { ...chain, editGenesis })));
  });

  afterAll(async () => {
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  /** The hash of a block over the state after the upgrade; undefined before the node has it. */
  async function hashAt(node: TestNode): Promise<string | undefined> {
    const response = await fetch(`${node.address.replace("tcp:", "http:")}/block?height=${HEIGHT + 1}`);
    const { result }: { result?: { block_id: { hash: string } } } = JSON.parse(await response.text());
    return result?.block_id.hash;
  }

  /** The round in which a validator tries to decide the next block. */
  async function roundOf(node: TestNode): Promise<number> {
    const response = await fetch(`${node.address.replace("tcp:", "http:")}/consensus_state`);
    const { result }: { result: { round_state: { "height/round/step": string } } } = JSON.parse(await response.text());
    return Number(result.round_state["height/round/step"].split("/")[1]);
  }

  test("stops each at the height; two wait with the next program, three continue, and the late one follows after it skipped it in vain", async () => {
    for (const { process } of nodes) {
      await waitFor(() => !process.running, "the end of each node");
      expect(await process.stop()).toBe(1);
      expect(process.output).toContain(`UPGRADE "v2" NEEDED at height: ${HEIGHT}: the next program`);
    }
    const [late, third, ...two] = nodes;
    if (late === undefined || third === undefined) throw new Error("four validators");
    const first = [third, ...two];
    await Promise.all(two.map((node) => node.start({ main: next })));
    // With half of the voting power there are rounds, and no block.
    const hasRounds = async (): Promise<boolean> => (await Promise.all(two.map(roundOf))).every((round) => round > 0);
    await waitFor(hasRounds, "a round without a decision");
    expect(await Promise.all(two.map(hashAt))).toEqual([undefined, undefined]);
    await third.start({ main: next });
    const hashes = first.map((node) => waitFor(() => hashAt(node), "the block after the upgrade"));
    const [hash] = await Promise.all(hashes);
    const skipping = await fixture.start("skipping", [...late.args, "--unsafe-skip-upgrades", `${HEIGHT}`]);
    await skipping.line(/wrong Block\.Header\.AppHash/);
    await skipping.stop();
    await svcOk(["rollback", "--home", late.home, "--cometbft", peer instanceof Peer ? peer.binary : ""]);
    await late.start({ main: next });
    expect(await waitFor(() => hashAt(late), "the block after the upgrade on the late node")).toBe(hash);
    expect(new Set(await Promise.all(hashes)).size).toBe(1);
    await late.process.stop();
    await expect(late.start()).rejects.toThrow("with other modules");
  });
});
