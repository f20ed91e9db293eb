import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountInfo, sendTx } from "../../src/client/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { AbciRelay } from "../support/abci-relay.ts";
import { answerOf } from "../support/agreement.ts";
import {
  balanceOf,
  Fixture,
  freePorts,
  mustSend,
  signerOf,
  startNode,
  TestNode,
  transfer,
  waitFor,
} from "../support/index.ts";
import { sampled } from "../support/runs.ts";
import { buildPeer, endWithoutApplication, Peer, type PeerProcess } from "./peers.ts";

/** Ends of a node and of its engine at each step of a block; what they do at their next start. `npm test` has a few of the rows. */

/** CometBFT's own fail points, in their order in a block: two for votes, five in the decision, four in the execution. */
const FAIL_POINTS = Array.from({ length: 11 }, (_, i) => i);
const FAILURES = FAIL_POINTS.flatMap((point) => [[point, "the engine"] as const, [point, "both"] as const]);
const CALLS = ["commit", "prepareProposal", "finalizeBlock", "processProposal"] as const;
const MOMENTS = CALLS.flatMap((call) =>
  (["the application", "the engine"] as const).flatMap((killed) =>
    (["answer", "request"] as const).map((when) => [killed, when, call] as const),
  ),
);
/** Number of blocks whose records are compared before and after. */
const LAST_BLOCKS = 10;
const peer = await buildPeer("cometbft");

describe.skipIf(!(peer instanceof Peer))("a block that is cut short", () => {
  const fixture = new Fixture();
  const [alice, bob, carol] = [testKey("alice"), testKey("bob"), testKey("carol")];
  const failing = join(fixture.folder, "failing-cometbft");
  const pointFile = join(fixture.folder, "point");
  const binary = peer instanceof Peer ? peer.binary : "";
  let node: TestNode;
  let sent = 0n;

  beforeAll(async () => {
    writeFileSync(failing, failingEngine(binary, pointFile), { mode: 0o755 });
    const [p2p = 0] = await freePorts(1);
    const flags = ["--engine", "cometbft", "--cometbft", failing, "--p2p.laddr", `tcp://127.0.0.1:${p2p}`];
    const coins = [{ denom: "utoken", amount: 1_000_000n }];
    const accounts = [alice, carol].map(({ address }) => ({ address, coins }));
    node = await startNode(fixture, { accounts, flags, checkInvariants: true });
  });

  afterAll(async () => {
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  const rpc = () => node.address.replace("tcp:", "http:");
  const height = async () => Number((await answerOf(rpc(), "status")).sync_info.latest_block_height);

  async function moreBlocks(): Promise<void> {
    const before = await height();
    await waitFor(async () => (await height()) > before + 1, "more blocks");
  }

  /** All that the node says of the last blocks, with the app hash of each. */
  async function rows(last: number): Promise<unknown[]> {
    const heights = Array.from({ length: LAST_BLOCKS }, (_, i) => last - i).filter((each) => each > 0);
    const paths = heights.flatMap((each) => [`block?height=${each}`, `block_results?height=${each}`]);
    return Promise.all(paths.map((path) => answerOf(rpc(), path)));
  }

  /** Hands in a transaction that may be lost. */
  function handIn(): void {
    const client = node.client();
    const sending = sendTx(client, signerOf(carol), [transfer(carol.address, bob.address, 1n)], { mode: "sync" });
    void sending.catch(() => undefined).finally(() => client.close());
  }

  /** Earlier blocks are the same, each transaction was executed once, and the chain goes on. */
  async function expectContinues(last: number, before: readonly unknown[]): Promise<void> {
    await moreBlocks();
    expect(await rows(last)).toEqual(before);
    const client = node.client();
    await mustSend(client, alice, transfer(alice.address, bob.address, 7n));
    sent += 7n;
    const [{ sequence }, balance] = [
      await accountInfo(client.query, carol.address),
      await balanceOf(client, bob.address),
    ];
    client.close();
    expect(balance).toBe(sent + sequence);
  }

  test.each(sampled(FAILURES, 11))("continues after its fail point %d, where %s ended", async (point, killed) => {
    await moreBlocks();
    const last = await height();
    const before = await rows(last);
    await node.process.stop();
    writeFileSync(pointFile, String(point));
    await node.start();
    handIn();
    await node.process.line(new RegExp(`fail-test ${point} `));
    if (killed === "both") {
      await node.process.kill();
      await node.start();
    }
    await expectContinues(last, before);
  });

  describe("by a call that stops", () => {
    let relay: AbciRelay;
    let engine: PeerProcess;
    let startEngine: () => PeerProcess;

    beforeAll(async () => {
      if (!(peer instanceof Peer)) return;
      await node.process.stop();
      const [port = 0, abci = 0, application = 0, comet = 0] = await freePorts(4);
      relay = await AbciRelay.open(fixture, { engine: abci, application });
      const { home, chainId } = node;
      const places = ["--proxy_app", `tcp://127.0.0.1:${application}`, "--cometbft-rpc", `tcp://127.0.0.1:${comet}`];
      const args = [
        "start",
        "--home",
        home,
        "--rpc.laddr",
        `tcp://127.0.0.1:${port}`,
        "--minimum-gas-prices",
        "0utoken",
      ];
      const engineFlags = ["--engine", "cometbft", "--with-cometbft=false", ...places];
      node = new TestNode(fixture, { home, chainId, port, args: [...args, ...engineFlags] });
      const own = ["--proxy_app", `tcp://127.0.0.1:${abci}`, "--rpc.laddr", `tcp://127.0.0.1:${comet}`];
      startEngine = () => peer.start(["start", "--home", join(home, "cometbft"), ...own]);
      fixture.defer(() => engine?.process.kill("SIGKILL"));
      await node.start();
      engine = startEngine();
    });

    test.each(sampled(MOMENTS, 10))("continues after the end of %s at the %s of %s", async (killed, when, call) => {
      await moreBlocks();
      const last = await height();
      const before = await rows(last);
      const stopped = relay.stopAt({ call, when });
      handIn();
      await stopped;
      if (killed === "the application") await node.process.kill();
      else engine.process.kill("SIGKILL");
      relay.breakOff();
      await endWithoutApplication(engine);
      if (killed === "the application") await node.start();
      engine = startEngine();
      await expectContinues(last, before);
    });
  });
});

/** A program that runs the engine, once with the fail point in the file. */
function failingEngine(binary: string, file: string): string {
  return `#!/bin/sh
if [ "$1" = start ] && mv ${file} ${file}.taken 2> /dev/null; then
  export FAIL_TEST_INDEX=$(cat ${file}.taken)
fi
exec ${binary} "$@"
`;
}
