import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { homePaths } from "../../src/node/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { balanceOf, Fixture, mustSend, runSvc, TestNode, transfer, waitFor } from "../support/index.ts";
import { heightOf, joiningNode, trustFlags } from "../support/joiner.ts";
import { atNight } from "../support/runs.ts";
import { startValidators } from "../support/validators.ts";
import { buildPeer, Peer } from "./peers.ts";

/** A node that joins a network by a snapshot of the state, without the blocks before. */

const CHAIN = "svc-sync-1";
const INTERVAL = 10;
const peer = await buildPeer("cometbft");

describe.skipIf(!(peer instanceof Peer))("a node that joins by state sync", () => {
  const fixture = new Fixture();
  const [alice, bob] = [testKey("alice"), testKey("bob")];
  const others = Array.from({ length: 300 }, (_, i) => testKey(`account ${i}`));
  let [validator, joiner]: [TestNode?, TestNode?] = [];

  beforeAll(async () => {
    if (!(peer instanceof Peer)) return;
    const accounts = others.map(({ address }, i) => ({ address, coins: [{ denom: "utoken", amount: BigInt(i + 1) }] }));
    // A snapshot that is removed while others fetch it would cost them minutes.
    const flags = ["--state-sync.snapshot-interval", String(INTERVAL), "--state-sync.snapshot-keep-recent", "0"];
    const request = { count: 1, chainId: CHAIN, program: peer.binary, account: alice, accounts, flags };
    [validator] = await startValidators(fixture, request);
  });

  afterAll(async () => {
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  function network(): { validator: TestNode; joiner: TestNode } {
    if (validator === undefined || joiner === undefined) throw new Error("both nodes run");
    return { validator, joiner };
  }

  async function answer(node: TestNode, path: string) {
    const response = await fetch(`${node.address.replace("tcp:", "http:")}/${path}`);
    return JSON.parse(await response.text());
  }

  const newHome = (node: TestNode) =>
    joiningNode(fixture, {
      chainId: CHAIN,
      program: peer instanceof Peer ? peer.binary : "",
      peers: [{ node }],
    });

  /** Starts a node until it ends by itself. */
  const startInVain = (args: readonly string[]) => runSvc([...args, "--rpc.laddr", "tcp://127.0.0.1:0"]);

  test("has the balances and the blocks of the network from the snapshot on, and says so of others", async () => {
    if (validator === undefined) return;
    const node = validator;
    const client = node.client();
    await mustSend(client, alice, transfer(alice.address, bob.address, 7n));
    client.close();
    const sent = await heightOf(node);
    const snapshots = homePaths(node.home).snapshots;
    const taken = () => (existsSync(snapshots) ? readdirSync(snapshots) : []).map((name) => Number.parseInt(name, 10));
    await waitFor(async () => taken().some((height) => height > sent) || undefined, "a snapshot");
    await waitFor(async () => (await heightOf(node)) > Math.max(...taken()) + 2 || undefined, "blocks behind it");
    const { home, args, port } = await newHome(node);
    joiner = new TestNode(fixture, { home, chainId: CHAIN, port, args: [...args, ...(await trustFlags([node]))] });
    await joiner.start();
    const ours = joiner.client();
    expect(await balanceOf(ours, bob.address)).toBe(7n);
    expect(await balanceOf(ours, others[299]?.address ?? "")).toBe(300n);
    ours.close();
    const { earliest_block_height } = (await answer(joiner, "status")).result.sync_info;
    const base = Number(earliest_block_height);
    expect(base).toBeGreaterThan(sent);
    await waitFor(async () => (await heightOf(network().joiner)) > base + 3 || undefined, "more blocks");
    for (const at of [base, base + 1, base + 2])
      for (const method of ["block", "block_results", "commit", "validators", "consensus_params", "header"]) {
        const path = `${method}?height=${at}`;
        expect((await answer(joiner, path)).result, path).toEqual((await answer(node, path)).result);
      }
    expect((await answer(joiner, `block?height=${base - 1}`)).error.data).toBe(
      `height ${base - 1} is not available, lowest height is ${base}`,
    );
    const query = ["query", "bank", "balances", bob.address, "--node", joiner.address, "--height", String(base - 2)];
    const { code, stderr } = await runSvc(query);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`the lowest height here is ${base - 1}`),
    });
  });

  test("continues after a kill, and needs another home when the blocks of its engine are gone", async () => {
    const { joiner } = network();
    await joiner.process.kill();
    const last = Number(await joiner.start());
    await waitFor(async () => (await heightOf(joiner)) > last + 1 || undefined, "more blocks");
    await joiner.process.stop();
    rmSync(join(joiner.home, "cometbft", "data"), { recursive: true });
    const { code, stderr } = await startInVain(joiner.args);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/state sync aborted|blockchain height 0: CometBFT cannot/),
    });
  });

  atNight(() => {
    test("fetches a snapshot again where the state is there, and the record of CometBFT is not", async () => {
      const { validator } = network();
      const { home, args, port } = await newHome(validator);
      const flags = [...args, ...(await trustFlags([validator]))];
      const halted = new TestNode(fixture, { home, chainId: CHAIN, port, args: [...flags, "--halt-height", "2"] });
      const started = halted.start().catch(() => undefined);
      await waitFor(() => halted.process.output.includes("comes after the halt height"), "the state without a block");
      await halted.process.kill();
      await started;
      rmSync(join(home, "cometbft", "data"), { recursive: true });
      const again = new TestNode(fixture, { home, chainId: CHAIN, port, args: flags });
      await again.start();
      const client = again.client();
      expect(await balanceOf(client, bob.address)).toBe(7n);
      client.close();
      await again.process.stop();
    });
  });

  test("takes no snapshot where the trusted block has another hash, and says so", async () => {
    const { validator } = network();
    const { home, args, port } = await newHome(validator);
    const stranger = new TestNode(fixture, {
      ...{ home, chainId: CHAIN, port },
      args: [...args, ...(await trustFlags([validator], "AB".repeat(32)))],
    });
    const started = stranger.start().catch(() => undefined);
    await waitFor(async () => stranger.process.output.includes("expected header's hash") || undefined, "the reason");
    await stranger.process.stop();
    await started;
  });

  test("says how to go on where the servers are gone before the state is there", async () => {
    const { validator } = network();
    const { args } = await newHome(validator);
    const program = join(fixture.folder, "failing");
    const failure = 'State sync failed module=statesync err="snapshot restoration failed: no witnesses connected"';
    const lines = ["#!/bin/sh", "[ $1 = version ] && echo 0.38.26 && exit", `echo 'E[] ${failure}'`, "exec sleep 60"];
    writeFileSync(program, lines.join("\n"), { mode: 0o755 });
    const words = args.map((word) => (peer instanceof Peer && word === peer.binary ? program : word));
    const { code, stderr } = await startInVain([...words, ...(await trustFlags([validator]))]);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /no witnesses connected: the node could not join by a snapshot\nHint: .*start the node again/,
      ),
    });
  });
});
