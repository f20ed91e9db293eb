import { appendFileSync, copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { homeNodeId, homePaths, initHome } from "../../src/node/index.ts";
import { answerOf } from "../support/agreement.ts";
import { Fixture, freePorts, startNode, TestNode, waitFor } from "../support/index.ts";
import { buildPeer, Peer } from "./peers.ts";

/** A validator that only its sentry knows, as the operator's guide sets both up. */

const CHAIN = "svc-sentry-1";
const KEYS = "[cometbft.p2p]\naddr_book_strict = false\nallow_duplicate_ip = true\n";
const peer = await buildPeer("cometbft");

describe.skipIf(!(peer instanceof Peer))("a validator behind a sentry", () => {
  const fixture = new Fixture();
  afterAll(async () => {
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  const addKeys = (home: string): void => appendFileSync(join(homePaths(home).config, "config.toml"), KEYS);

  function newHome(name: string): string {
    const home = fixture.tempHome(name);
    initHome({ home, moniker: name, chainId: CHAIN });
    addKeys(home);
    return home;
  }

  async function peersOf(node: TestNode): Promise<string[]> {
    const { peers } = await answerOf(node.address.replace("tcp:", "http:"), "net_info");
    return peers.map(({ node_info }: { node_info: { id: string } }) => node_info.id);
  }

  test("makes the blocks of a stranger who never learns its address", async () => {
    if (!(peer instanceof Peer)) return;
    const engine = ["--engine", "cometbft", "--cometbft", peer.binary];
    const [validatorPort = 0, sentryPort = 0, strangerPort = 0, sentryRpc = 0, strangerRpc = 0] = await freePorts(5);
    const [sentryHome, strangerHome] = [newHome("sentry"), newHome("stranger")];
    const at = (id: string, port: number): string => `${id}@127.0.0.1:${port}`;
    const listen = (port: number): string[] => ["--p2p.laddr", `tcp://127.0.0.1:${port}`];
    const sentryId = homeNodeId(sentryHome);
    const hidden = ["--p2p.pex=false", "--p2p.persistent_peers", at(sentryId, sentryPort)];
    const flags = [...engine, ...listen(validatorPort), ...hidden];
    const validator = await startNode(fixture, { chainId: CHAIN, flags, editHome: addKeys });
    const validatorId = homeNodeId(validator.home);
    const start = async (home: string, port: number, ...own: string[]): Promise<TestNode> => {
      copyFileSync(homePaths(validator.home).genesis, homePaths(home).genesis);
      const args = ["start", "--home", home, "--rpc.laddr", `tcp://127.0.0.1:${port}`, "--grpc.enable=false"];
      const node = new TestNode(fixture, { home, chainId: CHAIN, port, args: [...args, ...engine, ...own] });
      await node.start();
      return node;
    };
    const known = ["--p2p.persistent_peers", at(validatorId, validatorPort), "--p2p.private_peer_ids", validatorId];
    const sentry = await start(sentryHome, sentryRpc, ...listen(sentryPort), ...known);
    const way = ["--p2p.persistent_peers", at(sentryId, sentryPort)];
    const stranger = await start(strangerHome, strangerRpc, ...listen(strangerPort), ...way);
    const strangerId = homeNodeId(strangerHome);
    await waitFor(async () => (await peersOf(sentry)).length === 2, "both peers of the sentry");
    expect((await peersOf(sentry)).sort()).toEqual([validatorId, strangerId].sort());
    expect(await peersOf(validator)).toEqual([sentryId]);
    expect(await peersOf(stranger)).toEqual([sentryId]);
    await stranger.process.stop();
    // CometBFT writes the addresses that it learnt at its end.
    const book = readFileSync(join(strangerHome, "cometbft", "config", "addrbook.json"), "utf8");
    expect(book).toContain(sentryId);
    expect(book).not.toContain(validatorId);
  });
});
