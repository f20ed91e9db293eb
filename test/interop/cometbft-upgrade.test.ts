import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testKey } from "../../src/testing/index.ts";
import { Fixture, type TestNode, waitFor } from "../support/index.ts";
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
  }, 180_000);

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

  test("stops each at the height; three continue with the next program, and the late validator follows", async () => {
    for (const { process } of nodes) {
      await waitFor(() => !process.running, "the end of each node");
      expect(await process.stop()).toBe(1);
      expect(process.output).toContain(`UPGRADE "v2" NEEDED at height: ${HEIGHT}: the next program`);
    }
    const [late, ...first] = nodes;
    if (late === undefined) return;
    await Promise.all(first.map((node) => node.start({ main: next })));
    const hashes = first.map((node) => waitFor(() => hashAt(node), "the block after the upgrade"));
    const [hash] = await Promise.all(hashes);
    await late.start({ main: next });
    expect(await waitFor(() => hashAt(late), "the block after the upgrade on the late node")).toBe(hash);
    expect(new Set(await Promise.all(hashes)).size).toBe(1);
    await late.process.stop();
    await expect(late.start()).rejects.toThrow("with other modules");
  });
});
