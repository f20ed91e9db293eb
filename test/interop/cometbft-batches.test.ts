import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChainClient } from "../../src/client/index.ts";
import { toBase64 } from "../../src/util/index.ts";
import { txHash } from "../../src/wire/index.ts";
import { makeLanes } from "../kill/lanes.ts";
import { answerOf } from "../support/agreement.ts";
import { Fixture, freePorts, startNode, type TestNode, waitFor } from "../support/index.ts";
import { enginePid } from "../support/validators.ts";
import { buildPeer, Peer } from "./peers.ts";

/** Transactions that reach CometBFT together: over the room of its mempool, of all kinds, of clients that go, while it dies. */

const CHAIN = "svc-batches-1";
const MEMPOOL = 10;
const peer = await buildPeer("cometbft");

describe.skipIf(!(peer instanceof Peer))("transactions in batches", { timeout: 120_000 }, () => {
  const fixture = new Fixture();
  const lanes = makeLanes(CHAIN, 110, 1);
  let node: TestNode;
  let client: ChainClient;

  beforeAll(async () => {
    if (!(peer instanceof Peer)) return;
    const [p2p = 0] = await freePorts(1);
    node = await startNode(fixture, {
      chainId: CHAIN,
      accounts: lanes.map(({ key: { address } }) => ({
        address,
        coins: [{ denom: "utoken", amount: 1_000_000_000n }],
      })),
      flags: [
        ...["--engine", "cometbft", "--cometbft", peer.binary, "--p2p.laddr", `tcp://127.0.0.1:${p2p}`],
        ...["--mempool.size", `${MEMPOOL}`, "--mempool.max-tx-bytes", "20000"],
      ],
    });
    client = node.client();
  });
  afterAll(async () => {
    client?.close();
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  const http = () => node.address.replace("tcp:", "http:");
  const isExecuted = async (tx: Uint8Array): Promise<boolean> => {
    return (await answerOf(http(), `tx?hash=0x${txHash(tx)}`)) !== undefined;
  };
  const transfer = (i: number): Uint8Array => lanes[i]?.tx(0n) ?? new Uint8Array(0);
  /** The code of the answer, or the words of the refusal. */
  const send = (tx: Uint8Array): Promise<number | string> =>
    client.node.broadcast(tx, "sync").then(
      ({ code }) => code,
      (error: unknown) => String(error),
    );
  const isEmpty = async () => (await answerOf(http(), "num_unconfirmed_txs")).total === "0";

  /** Sends transactions together; the answer to each, and whether it was executed when nothing waits any more. */
  async function outcomeOf(txs: readonly Uint8Array[]) {
    const answers = await Promise.all(txs.map(send));
    await waitFor(isEmpty, "an empty mempool");
    const executed = await Promise.all(txs.map(isExecuted));
    return { answers, executed };
  }

  test("of a burst over the room of the mempool, all that is acknowledged is executed", async () => {
    const txs = lanes.slice(0, 60).map((lane) => lane.tx(0n));
    const { answers, executed } = await outcomeOf(txs);
    expect(answers.filter((answer) => answer === 0).length).toBeGreaterThanOrEqual(MEMPOOL);
    expect(answers.filter((answer) => typeof answer === "string" && answer.includes("mempool is full"))).not.toEqual(
      [],
    );
    expect(answers.map((answer) => answer === 0)).toEqual(executed);
  });

  test("each transaction of a batch has its own answer", async () => {
    const [good, late] = [transfer(60), lanes[61]?.tx(5n) ?? new Uint8Array(0)];
    const huge = new Uint8Array(30_000).fill(1);
    const { answers, executed } = await outcomeOf([huge, good, good, Uint8Array.of(1, 2, 3), late]);
    expect(executed).toEqual([false, true, true, false, false]);
    expect(answers).toEqual([
      expect.stringContaining("tx too large"),
      0,
      expect.stringContaining("already exists"),
      2,
      32,
    ]);
  });

  test("clients that go before their answers leave a node that answers others", async () => {
    const { port } = new URL(http());
    const txs = lanes.slice(62, 72).map((lane) => lane.tx(0n));
    const body = (tx: Uint8Array) =>
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "broadcast_tx_sync", params: { tx: toBase64(tx) } });
    const requests = txs.map(
      (tx) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body(tx).length}\r\n\r\n${body(tx)}`,
    );
    for (const request of [...requests, ...requests]) {
      const socket = connect({ port: Number(port), host: "127.0.0.1" });
      socket.on("error", () => undefined);
      socket.write(request, () => socket.destroy());
    }
    await waitFor(isEmpty, "an empty mempool");
    expect(await send(transfer(72))).toBe(0);
    expect(node.process.running).toBe(true);
  });

  test("while CometBFT is killed each client has an answer, and nothing is executed twice", async () => {
    if (!(peer instanceof Peer)) return;
    const rest = lanes.slice(73);
    const sent = rest.map((lane) => send(lane.tx(0n)));
    process.kill(enginePid(node, peer.binary), "SIGKILL");
    const more = rest.map((lane) => send(lane.tx(0n)));
    const answers = await Promise.all([...sent, ...more]);
    expect(answers).toHaveLength(2 * rest.length);
    const height = await client.node.status().then(({ latestHeight }) => latestHeight);
    await waitFor(async () => (await client.node.status()).latestHeight > height + 2n, "more blocks");
    await waitFor(isEmpty, "an empty mempool");
    for (const lane of rest) {
      const { total_count } = await answerOf(http(), `tx_search?query=%22message.sender='${lane.key.address}'%22`);
      expect(Number(total_count)).toBeLessThanOrEqual(1);
    }
  });
});
