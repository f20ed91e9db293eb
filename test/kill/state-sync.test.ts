import { randomBytes } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { homePaths } from "../../src/node/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { addStrangers } from "../attack/lib/genesis.ts";
import { strangerAddress } from "../attack/lib/large.ts";
import { buildPeer, Peer } from "../interop/peers.ts";
import { balanceOf, Fixture, TestNode, waitFor } from "../support/index.ts";
import { answerOf, heightOf, joiningNode, peerPort, trustFlags } from "../support/joiner.ts";
import type { GenesisFile } from "../support/node.ts";
import { type SlowRelay, slowRelayTo } from "../support/relay.ts";
import { startValidators } from "../support/validators.ts";

/** A node that fetches a snapshot over slow connections, killed between two chunks; then a node that serves one, too. */

const CHAIN = "svc-sync-kill-1";
const ACCOUNTS = Number(process.env.SVC_TEST_SYNC_ACCOUNTS ?? 1_000);
/** Two chunks of 4 MiB each, and the rest in a third. */
const BULK_MIB = 8;
/** Bytes a second: a chunk takes some seconds. */
const SLOW = 600_000;
const TAKING = ["--state-sync.snapshot-interval=10", "--state-sync.snapshot-keep-recent=0"];
const PATIENCE = { timeoutMs: 240_000, pollMs: 50 } as const;
const APPLIED = /Applied snapshot chunk to ABCI app/g;
const RESTORED = /Snapshot restored/;
const peer = await buildPeer("cometbft");

/** A mebibyte of state that is little work. */
function bulk(number: number) {
  const base = `ubulk${number}`;
  const description = randomBytes(1 << 19).toString("hex");
  return {
    base,
    denom_units: [{ denom: base, exponent: 0, aliases: [] }],
    description,
    display: base,
    name: "",
    symbol: "",
  };
}

interface Server {
  readonly node: TestNode;
  readonly relay: SlowRelay;
}

describe.skipIf(!(peer instanceof Peer))("a snapshot that is being fetched", () => {
  const fixture = new Fixture();
  const speed = { bytesPerSecond: SLOW };
  let servers: Server[] = [];

  beforeAll(async () => {
    if (!(peer instanceof Peer)) return;
    const { binary: program } = peer;
    // The second node serves, and does not vote.
    const editGenesis = (genesis: GenesisFile) => {
      const { genutil, bank } = genesis.app_state;
      if (Array.isArray(genutil?.gen_txs)) genutil.gen_txs.length = 1;
      Object.assign(bank ?? {}, { denom_metadata: Array.from({ length: BULK_MIB }, (_, i) => bulk(i)) });
      addStrangers(genesis, ACCOUNTS);
    };
    const request = { count: 2, chainId: CHAIN, program, account: testKey("alice"), editGenesis };
    const nodes = await startValidators(fixture, { ...request, flags: TAKING, blockIntervalMs: 500 });
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error("two nodes");
    const height = await waitFor(() => snapshotsOf(first)[0], "a snapshot", PATIENCE);
    servers = await Promise.all([serverOf(first, height), serverOf(second, height, first)]);
  }, 300_000);

  function snapshotsOf(node: TestNode): number[] {
    const { snapshots } = homePaths(node.home);
    const names = existsSync(snapshots) ? readdirSync(snapshots) : [];
    return names.map((name) => Number.parseInt(name, 10)).filter(Number.isInteger);
  }

  /**
   * Takes no further snapshots, and serves the one of the height. Nodes that take snapshots for longer than their interval skip heights, and
   * not the same ones: where `from` is another node, its snapshot is copied.
   */
  async function serverOf(taker: TestNode, height: number, from = taker): Promise<Server> {
    const { home, chainId, address } = taker;
    await taker.process.stop();
    const { snapshots } = homePaths(home);
    const isOther = (name: string): boolean => Number.parseInt(name, 10) !== height;
    if (from !== taker) {
      const there = homePaths(from.home).snapshots;
      for (const name of readdirSync(there).filter((each) => !isOther(each)))
        cpSync(join(there, name), join(snapshots, name), { recursive: true });
    }
    const others = readdirSync(snapshots).filter(isOther);
    for (const name of others) rmSync(join(snapshots, name), { recursive: true });
    const args = taker.args.filter((word) => !TAKING.includes(word));
    const node = new TestNode(fixture, { home, chainId, port: Number(address.split(":").at(-1)), args });
    await node.start();
    return { node, relay: await slowRelayTo(fixture, await peerPort(node), speed) };
  }

  afterAll(async () => {
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  /** The server that sends: the one that has sent most from now on. */
  async function sending(): Promise<Server> {
    const before = servers.map(({ relay }) => relay.bytes());
    const sender = () => servers.find(({ relay }, i) => relay.bytes() - (before[i] ?? 0) > SLOW / 2);
    return waitFor(sender, "a server that sends", PATIENCE);
  }

  async function joiner(): Promise<TestNode> {
    const peers = servers.map(({ node, relay }) => ({ node, port: relay.port }));
    // One chunk at a time: when the first is applied, the second is on its way.
    const request = { chainId: CHAIN, program: peer instanceof Peer ? peer.binary : "", peers };
    const { home, port, args } = await joiningNode(fixture, { ...request, stateSync: ["chunk_fetchers = 1"] });
    const logs = ["--log_level", "debug", "--p2p.pex=false"];
    const trust = await trustFlags(servers.map(({ node }) => node));
    const parts = { home, chainId: CHAIN, port, firstBlockWithinMs: PATIENCE.timeoutMs };
    return new TestNode(fixture, { ...parts, args: [...args, ...logs, ...trust] });
  }

  /** Starts the node until it has applied a chunk; its start goes on in the list. */
  async function fetching(node: TestNode): Promise<[Promise<unknown>]> {
    const log = join(fixture.folder, "node.log");
    const count = () => readFileSync(log, "utf8").match(APPLIED)?.length ?? 0;
    const before = count();
    const started = node.start();
    started.catch(() => undefined);
    await waitFor(() => count() > before, "the first chunk", PATIENCE);
    return [started];
  }

  test("is fetched again after a kill of the node, and from others after a kill of a server; the states are equal", async () => {
    const node = await joiner();
    const [killed] = await fetching(node);
    await node.process.kill();
    await killed.catch(() => undefined);
    expect(node.process.output).not.toMatch(RESTORED);

    const [started] = await fetching(node);
    const server = await sending();
    await server.node.process.kill();
    expect(node.process.output).not.toMatch(RESTORED);
    speed.bytesPerSecond = Number.POSITIVE_INFINITY;
    await node.process.line(RESTORED, PATIENCE.timeoutMs);
    await server.node.start();
    await started;

    const base = Number((await answerOf(node, "status")).sync_info.earliest_block_height);
    await waitFor(async () => (await heightOf(node)) > base + 3, "more blocks", PATIENCE);
    expect(base).toBeGreaterThan(1);
    for (let at = base; at <= base + 3; at++) {
      const [ours, ...theirs] = await Promise.all(
        [node, ...servers.map((each) => each.node)].map((each) => answerOf(each, `block?height=${at}`)),
      );
      for (const each of theirs) expect(each.block.header).toEqual(ours.block.header);
    }
    const client = node.client();
    for (const i of [0, ACCOUNTS - 1]) expect(await balanceOf(client, strangerAddress(i))).toBe(1_000_000n);
    client.close();
  });
});
