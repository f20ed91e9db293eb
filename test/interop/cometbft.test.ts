import { cpSync, existsSync, mkdirSync, renameSync, rmdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/app/index.ts";
import type { ChainClient } from "../../src/client/index.ts";
import { homePaths } from "../../src/node/index.ts";
import { openLmdb } from "../../src/store/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { execFileSync } from "../support/bounded.ts";
import { fillDisk, freeDisk } from "../support/disk.ts";
import {
  balanceOf,
  Fixture,
  freePorts,
  mustSend,
  runSvc,
  startNode,
  type TestNode,
  transfer,
  waitFor,
} from "../support/index.ts";
import { enginePid } from "../support/validators.ts";
import { buildPeer, endWithoutApplication, Peer } from "./peers.ts";

/** A node whose blocks the ecosystem's engine makes, as a child of the node. */

const peer = await buildPeer("cometbft");
const IS_ROOT = process.getuid?.() === 0;
const DISK_MIB = 64;

test.skipIf(!(peer instanceof Peer) && process.env.CI !== "true")("the engine is there", () =>
  expect(peer).toBeInstanceOf(Peer),
);

describe.skipIf(!(peer instanceof Peer))("one validator under CometBFT", () => {
  const fixture = new Fixture();
  const [alice, bob] = [testKey("alice"), testKey("bob")];
  let node: TestNode;
  let client: ChainClient;
  let flags: readonly string[] = [];
  let sent = 0n;

  beforeAll(async () => {
    if (!(peer instanceof Peer)) return;
    const [p2p = 0] = await freePorts(1);
    flags = ["--engine", "cometbft", "--cometbft", peer.binary, "--p2p.laddr", `tcp://127.0.0.1:${p2p}`];
    const accounts = [{ address: alice.address, coins: [{ denom: "utoken", amount: 1_000_000_000n }] }];
    node = await startNode(fixture, { accounts, flags, checkInvariants: true });
    client = node.client();
  });

  afterAll(async () => {
    client?.close();
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  /** Starts the node again, on its home. */
  async function startAgain(): Promise<void> {
    await node.start();
    client.close();
    client = node.client();
  }

  /** Runs `svc start` until it ends by itself. */
  const startInVain = (...args: readonly string[]) =>
    runSvc(["start", "--home", node.home, "--rpc.laddr", "tcp://127.0.0.1:0", "--block-interval", "200ms", ...args]);

  async function send(): Promise<string> {
    const { txhash } = await mustSend(client, alice, transfer(alice.address, bob.address, 7n));
    sent += 7n;
    expect(await balanceOf(client, bob.address)).toBe(sent);
    return txhash;
  }

  const height = async () => (await client.node.status()).latestHeight;

  async function ours(path: string): Promise<{ result?: Record<string, unknown> }> {
    const response = await fetch(`${node.address.replace("tcp:", "http:")}/${path}`);
    return JSON.parse(await response.text());
  }

  /** Our answers about all blocks up to a height. */
  async function rows(last: number): Promise<unknown[]> {
    const paths = Array.from({ length: last }, (_, i) => [`block?height=${i + 1}`, `block_results?height=${i + 1}`]);
    return Promise.all(paths.flat().map(async (path) => (await ours(path)).result));
  }

  /** Resolves when the node has made more blocks. */
  async function moreBlocks(): Promise<void> {
    const before = await height();
    await waitFor(async () => (await height()) > before + 1n, "more blocks");
  }

  /** Height of the stored state. */
  function executed(): bigint {
    const database = openLmdb(homePaths(node.home).database);
    try {
      return createApp({ database }).info().lastBlockHeight;
    } finally {
      database.close();
    }
  }

  const binary = () => (peer instanceof Peer ? peer.binary : "");

  /** An answer of the engine's own RPC, which only this machine's user can ask. */
  function theirs(path: string): Promise<{ result?: unknown }> {
    const socketPath = join(node.home, "cometbft", "run", "rpc.sock");
    return new Promise((resolve, reject) => {
      const call = request({ socketPath, path: `/${path}` }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => resolve(JSON.parse(text)));
      });
      call.on("error", reject);
      call.end();
    });
  }

  test("makes ten blocks, about which our RPC and the engine's say the same", async () => {
    const hash = await send();
    await waitFor(async () => (await height()) >= 10n, "ten blocks");
    for (let at = 1; at <= 9; at++) {
      for (const path of [
        `block?height=${at}`,
        `commit?height=${at}`,
        `validators?height=${at}`,
        `header?height=${at}`,
      ])
        expect((await ours(path)).result, path).toEqual((await theirs(path)).result);
      const path = `block_results?height=${at}`;
      expect(withoutEvents((await ours(path)).result), path).toEqual((await theirs(path)).result);
    }
    expect((await ours("net_info")).result).toEqual((await theirs("net_info")).result);
    expect((await ours("consensus_state")).result).toMatchObject({
      round_state: { height_vote_set: expect.anything() },
    });
    const { node_info, ...status } = (await ours("status")).result ?? {};
    expect(status).toMatchObject({ engine: "cometbft", sync_info: { catching_up: false } });
    expect(node_info).toMatchObject({ listen_addr: flags.at(-1) });
    expect((await ours(`tx?hash=0x${hash}`)).result).toMatchObject({ hash, tx_result: { code: 0 } });
    expect(JSON.stringify(await ours("tx_search?query=%22message.action='send'%22"))).toContain(hash);
  });

  test("continues after a kill of the engine, and every send is found again", async () => {
    const [before, pid] = [await send(), node.process.pid];
    const killed = enginePid(node, binary());
    process.kill(killed, "SIGKILL");
    await moreBlocks();
    const after = await send();
    expect(node.process.pid).toBe(pid);
    expect(enginePid(node, binary())).not.toBe(killed);
    for (const hash of [before, after]) expect((await ours(`tx?hash=0x${hash}`)).result).toMatchObject({ hash });
  });

  test("continues after a kill of the node while its engine hangs, and every send is found again", async () => {
    const before = await send();
    const engine = enginePid(node, binary());
    process.kill(engine, "SIGSTOP");
    await node.process.kill();
    await waitFor(() => Promise.resolve(!existsSync(`/proc/${engine}`) || undefined), "the end of the engine");
    await startAgain();
    expect((await ours(`tx?hash=0x${before}`)).result).toMatchObject({ hash: before });
    await send();
  });

  test("continues after a kill of both, with the same blocks", async () => {
    const before = await send();
    const last = Number(await height());
    const blocks = await rows(last);
    process.kill(enginePid(node, binary()), "SIGKILL");
    await node.process.kill();
    await startAgain();
    expect(await rows(last)).toEqual(blocks);
    expect((await ours(`tx?hash=0x${before}`)).result).toMatchObject({ hash: before });
    await send();
  });

  test("ends with its engine", async () => {
    const engine = enginePid(node, binary());
    expect(await node.process.stop()).toBe(0);
    expect(existsSync(`/proc/${engine}`)).toBe(false);
  });

  test("rolls its last block back, which is then executed again, and does not remove it", async () => {
    const last = executed();
    const words = ["rollback", "--home", node.home, "--cometbft", binary()];
    expect(await runSvc([...words, "--hard"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("CometBFT keeps the block"),
    });
    const { code, stdout, stderr } = await runSvc(words);
    expect({ code, stderr, stdout }).toEqual({
      ...{ code: 0, stderr: "" },
      stdout: expect.stringMatching(new RegExp(`^Rolled back state to height ${last - 1n} and hash [0-9A-F]{64}\\n$`)),
    });
    expect(executed()).toBe(last - 1n);
    await startAgain();
    await waitFor(async () => (await height()) > last || undefined, "blocks behind it");
    const block = async (at: bigint) => (await ours(`block?height=${at}`)).result;
    expect(await block(last)).toEqual((await theirs(`block?height=${last}`)).result);
    await send();
    expect(await node.process.stop()).toBe(0);
  });

  test.skipIf(!IS_ROOT)("ends when its disk is full, and continues when there is room", async () => {
    const data = join(node.home, "data");
    const leave = moveToSmallDisk(data);
    fixture.defer(async () => leave());
    await startAgain();
    const before = await send();
    fillDisk(data);
    await waitFor(async () => !node.process.running || undefined, "the end of the node");
    expect(node.process.output).toMatch(
      /Error: the node stopped: .*(?:no space left on device: free space|ENOSPC|full)/i,
    );
    freeDisk(data);
    await startAgain();
    expect((await ours(`tx?hash=0x${before}`)).result).toMatchObject({ hash: before });
    await send();
    expect(await node.process.stop()).toBe(0);
    leave();
  });

  test("stops after its halt height, and ends with the block's number when the engine's data is older", async () => {
    const data = join(node.home, "cometbft", "data");
    cpSync(data, `${data}-before`, { recursive: true });
    const halt = executed() + 3n;
    expect(await startInVain(...flags, "--halt-height", String(halt))).toMatchObject({ code: 0 });
    expect(executed()).toBe(halt);
    renameSync(data, `${data}-after`);
    renameSync(`${data}-before`, data);
    const { code, stderr } = await startInVain(...flags);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`the node stopped: after block ${halt}: .*app block height \\(${halt}\\) is higher`),
    );
  });

  test("is not continued by the embedded engine, which would sign its heights again", async () => {
    const { code, stderr } = await startInVain();
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("begun with the other engine") });
  });

  test("exports snapshots for nodes that join, and refuses to restore one", async () => {
    expect(await runSvc(["snapshots", "export", "--home", node.home])).toMatchObject({ code: 0 });
    const restored = await runSvc(["snapshots", "restore", `${executed() - 1n}`, "2", "--home", node.home]);
    expect(restored).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/CometBFT made the blocks of .*: this is for the embedded engine alone/),
    });
  });

  test("begins again after a reset", async () => {
    expect(await runSvc(["unsafe-reset-all", "--home", node.home])).toMatchObject({ code: 0 });
    expect(await startInVain(...flags, "--halt-height", "2")).toMatchObject({ code: 0 });
    expect(executed()).toBe(2n);
  });

  test("executes the blocks of a CometBFT that another starts, over TCP of this machine", async () => {
    if (!(peer instanceof Peer)) return;
    const [abci, rpc] = (await freePorts(2)).map((port) => `tcp://127.0.0.1:${port}`);
    const places = ["--proxy_app", String(abci), "--cometbft-rpc", String(rpc)];
    const ended = startInVain("--engine", "cometbft", "--with-cometbft=false", ...places, "--halt-height", "4");
    const root = join(node.home, "cometbft");
    const engine = peer.start(["start", "--home", root, "--proxy_app", String(abci), "--rpc.laddr", String(rpc)]);
    try {
      expect(await ended).toMatchObject({ code: 0 });
      expect(executed()).toBe(4n);
      await endWithoutApplication(engine);
    } finally {
      engine.process.kill("SIGKILL");
    }
    const { code, stderr } = await startInVain("--engine", "cometbft", ...places);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("add --with-cometbft=false") });
  });
});

/** Gives a folder a disk of its own; returns the function that moves it back. */
function moveToSmallDisk(folder: string): () => void {
  const [before, after] = [`${folder}.before`, `${folder}.after`];
  renameSync(folder, before);
  mkdirSync(folder, { mode: 0o700 });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m,mode=0700`, "tmpfs", folder]);
  cpSync(before, folder, { recursive: true });
  let hasLeft = false;
  return () => {
    if (hasLeft) return;
    hasLeft = true;
    cpSync(folder, after, { recursive: true });
    execFileSync("umount", ["--lazy", folder]);
    rmdirSync(folder);
    renameSync(after, folder);
  };
}

/** Results of a block as the engine has them: events stay in our index. */
function withoutEvents(results: Readonly<Record<string, unknown>> | undefined): unknown {
  const text = JSON.stringify({ ...results, finalize_block_events: null });
  return JSON.parse(text, (key, value) => (key === "events" ? [] : value));
}
