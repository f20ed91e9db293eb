import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { KvNetwork, kvTx } from "../../../test/support/block-engine/network.ts";
import { breakOff, upgradeRequest } from "../../../test/support/break-off.ts";
import { TEST_NODE_INFO } from "../../../test/support/node-info.ts";
import type { EmbeddedEngine } from "../../engine/index.ts";
import { embeddedSource } from "../../engine/index.ts";
import { nodeConfig } from "../config.ts";
import { RpcServer } from "./server.ts";
import { type Sink, Subscriptions } from "./subscriptions.ts";

interface Frame {
  id: unknown;
  result?: {
    query?: string;
    data?: { type: string; value: Record<string, unknown> };
    events?: Record<string, string[]>;
  };
  error?: { code: number; data?: string };
}

/** A client that keeps every frame it gets. */
class Client {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  closed: string | undefined;

  constructor(url: string, options: { origin?: string } = {}) {
    this.socket = new WebSocket(url, options);
    this.socket.on("message", (data) => this.frames.push(JSON.parse(data.toString())));
    this.socket.on("close", (code, reason) => {
      this.closed = `${code} ${reason.toString()}`;
    });
  }

  opened(): Promise<void> {
    return new Promise((resolve, reject) => this.socket.once("open", resolve).once("error", reject));
  }

  send(id: unknown, method: string, params?: unknown): void {
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  }

  async frame(at: number): Promise<Frame> {
    await expect.poll(() => this.frames.length, { timeout: 30_000 }).toBeGreaterThan(at);
    return this.frames[at] ?? { id: undefined };
  }
}

let engine: EmbeddedEngine;
let server: RpcServer;
let url = "";
let genesisText = (): string => "{}";
const genesis = { size: () => 2, read: () => Buffer.from(genesisText()) };
const clients: Client[] = [];

beforeEach(async () => {
  engine = new KvNetwork().engine();
  const query = engine.app.query.bind(engine.app);
  const env = { chain: embeddedSource(engine), nodeInfo: () => TEST_NODE_INFO, genesis, query };
  server = new RpcServer(env, { ...nodeConfig({}).rpc, host: "127.0.0.1", port: 0, maxSubscriptionClients: 3 });
  url = `ws://127.0.0.1:${(await server.listen()).port}/websocket`;
});

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await server.close();
});

async function connect(): Promise<Client> {
  const client = new Client(url);
  clients.push(client);
  await client.opened();
  return client;
}

describe("subscriptions", () => {
  it("report blocks and transactions with the id of the call", async () => {
    const client = await connect();
    client.send("txs", "subscribe", { query: "tm.event='Tx' AND set.key='a'" });
    client.send(2, "subscribe", ["tm.event='NewBlock'"]);
    client.send(3, "subscribe", { query: "tm.event='NewBlockHeader' AND kv.count>1" });
    expect([await client.frame(0), await client.frame(1), await client.frame(2)]).toEqual(
      ["txs", 2, 3].map((id) => ({ jsonrpc: "2.0", id, result: {} })),
    );
    for (const tx of ["a=1", "b=2"]) engine.mempool.add(kvTx(tx));
    engine.produceBlock();
    const block = await client.frame(3);
    expect(block).toMatchObject({
      id: 2,
      result: {
        query: "tm.event='NewBlock'",
        data: {
          type: "tendermint/event/NewBlock",
          value: { block: { header: { height: "1" } }, result_finalize_block: {} },
        },
        events: { "tm.event": ["NewBlock"], "kv.count": ["2"] },
      },
    });
    expect(await client.frame(4)).toMatchObject({ id: 3, result: { data: { value: { header: { height: "1" } } } } });
    const tx = await client.frame(5);
    const { value } = tx.result?.data ?? {};
    expect(tx.id).toBe("txs");
    expect(value).toEqual({
      TxResult: {
        height: "1",
        tx: Buffer.from("a=1").toString("base64"),
        result: {
          data: Buffer.from("1").toString("base64"),
          gas_wanted: "10",
          gas_used: "5",
          events: expect.any(Array),
        },
      },
    });
    expect(tx.result?.events).toMatchObject({ "tm.event": ["Tx"], "tx.height": ["1"], "message.action": ["set"] });
    engine.produceBlock();
    expect(await client.frame(6)).toMatchObject({ id: 2 });
    expect(client.frames).toHaveLength(7);
  });

  it("end by query, all at once, and with the connection", async () => {
    const client = await connect();
    const query = "tm.event='NewBlock'";
    client.send(1, "subscribe", { query });
    client.send(2, "subscribe", { query: "tm.event='Tx'" });
    client.send(3, "unsubscribe", { query });
    client.send(4, "unsubscribe", { query });
    client.send(5, "unsubscribe_all");
    client.send(6, "unsubscribe_all");
    await client.frame(5);
    expect(client.frames.map(({ error }) => error?.data)).toEqual([
      undefined,
      undefined,
      undefined,
      "subscription not found",
      undefined,
      "subscription not found",
    ]);
    engine.produceBlock();
    client.send(7, "health");
    expect(await client.frame(6)).toEqual({ jsonrpc: "2.0", id: 7, result: {} });
  });

  it("are the same however they are spaced", async () => {
    const client = await connect();
    client.send(1, "subscribe", { query: "tm.event='NewBlock' AND block.height>0" });
    client.send(2, "subscribe", { query: "tm.event = 'NewBlock'  AND block.height > 0" });
    client.send(3, "subscribe", { query: "tm.event='NewBlock' AND block.height>=0" });
    client.send(4, "unsubscribe", { query: " tm.event = 'NewBlock' AND block.height > 0 " });
    await client.frame(3);
    expect(client.frames.map(({ error }) => error?.data)).toEqual([
      undefined,
      "already subscribed",
      undefined,
      undefined,
    ]);
    engine.produceBlock();
    expect((await client.frame(4)).id).toBe(3);
    client.send(5, "health");
    expect(await client.frame(5)).toMatchObject({ id: 5 });
  });

  it("are limited, and refused when the query is bad", async () => {
    const client = await connect();
    for (let i = 0; i < 7; i++) client.send(i, "subscribe", { query: `tx.height>${Math.max(1, i)}` });
    client.send(7, "subscribe", { query: "bad" });
    client.send(8, "subscribe", {});
    client.send(9, "nosuch");
    await client.frame(9);
    expect(client.frames.map(({ error }) => error?.data ?? error?.code)).toEqual([
      undefined,
      "already subscribed",
      undefined,
      undefined,
      undefined,
      undefined,
      "max_subscriptions_per_client 5 reached",
      "failed to parse query: expected one of = < <= > >= CONTAINS EXISTS at character 4",
      "the query is missing",
      -32601,
    ]);
    for (let i = 0; i < 3; i++) {
      const other = await connect();
      other.send(1, "subscribe", { query: "tm.event='Tx'" });
      expect((await other.frame(0)).error?.data).toBe(i < 2 ? undefined : "max_subscription_clients 3 reached");
    }
  });

  it("serve all other methods too, batches included", async () => {
    const client = await connect();
    client.socket.send(
      '[{"jsonrpc":"2.0","id":1,"method":"health"},{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{"query":"tm.event=\'Tx\'"}}]',
    );
    await client.frame(0);
    expect(client.frames[0]).toEqual([1, 2].map((id) => ({ jsonrpc: "2.0", id, result: {} })));
    client.socket.send(Buffer.from('{"id":3,"method":"health"}'));
    expect(await client.frame(1)).toEqual({ jsonrpc: "2.0", id: 3, result: {} });
    client.socket.send(Buffer.from([0xff, 0xfe]));
    expect((await client.frame(2)).error?.code).toBe(-32700);
  });

  it("go on when somebody asks for another path and breaks off", async () => {
    const { port } = new URL(url);
    await breakOff(Number(port), upgradeRequest("127.0.0.1", "/other"));
    await connect();
  });

  it("refuse other paths and foreign pages", async () => {
    await expect(new Client(url.replace("/websocket", "/other")).opened()).rejects.toThrow("404");
    await expect(new Client(url, { origin: "https://evil.example" }).opened()).rejects.toThrow("403");
  });
});

describe("messages that come in several parts", () => {
  it("are answered one by one, wherever one ends and the next begins", async () => {
    const client = await connect();
    const sizes = [100_000, 1, 65_000, 300_000, 4_096, 5, 65_536, 900_000, 70_000, 2];
    for (const [id, size] of sizes.entries()) {
      client.socket.ping(`${id}`.repeat(60));
      client.socket.send(`${" ".repeat(size)}{"id":${id},"method":"check_tx","params":{"tx":""}}`);
    }
    await client.frame(sizes.length - 1);
    expect(client.frames.map(({ id }) => id)).toEqual(sizes.map((_, id) => id));
  });

  it("are echoed in pings", async () => {
    const client = await connect();
    const pongs: string[] = [];
    client.socket.on("pong", (data) => pongs.push(data.toString()));
    const sent = Array.from({ length: 60 }, (_, i) => `${i}`.padEnd(120, "x"));
    for (const text of sent) {
      client.socket.ping(text);
      client.socket.send(`${" ".repeat(20_000)}{"id":1,"method":"health"}`);
    }
    await client.frame(sent.length - 1);
    await expect.poll(() => pongs.length, { timeout: 30_000 }).toBe(sent.length);
    expect(pongs).toEqual(sent);
  });
});

describe("a slow reader", () => {
  it("is dropped when it asks on without reading the answers", async () => {
    const [answers, size] = [10, 4 << 20];
    let asked = 0;
    genesisText = () => {
      asked += 1;
      return JSON.stringify("x".repeat(size));
    };
    const client = await connect();
    client.socket.pause();
    for (let i = 0; i < answers; i++) client.send(i, "genesis");
    await expect.poll(() => asked, { timeout: 30_000 }).toBeGreaterThan(3);
    client.send(answers, "health");
    client.socket.resume();
    await expect.poll(() => client.closed, { timeout: 30_000 }).toBe("1008 client is not pulling messages fast enough");
    expect(client.frames.length).toBeLessThanOrEqual(answers);
  });

  it("is dropped when the next block comes, and the others are not", () => {
    const subscriptions = new Subscriptions({ maxClients: 9, maxPerClient: 9 });
    const made = (ready: () => boolean) => {
      const told: string[] = [];
      const sink: Sink = {
        send: (frame) => told.push(frame),
        isReady: ready,
        drop: (reason) => told.push(`dropped: ${reason}`),
      };
      subscriptions.subscribe(sink, "tm.event='NewBlockHeader'", 1);
      return told;
    };
    let isReady = true;
    const slow = made(() => isReady);
    const quick = made(() => true);
    subscriptions.publish(engine.produceBlock());
    isReady = false;
    subscriptions.publish(engine.produceBlock());
    isReady = true;
    subscriptions.publish(engine.produceBlock());
    expect(slow).toHaveLength(2);
    expect(slow[1]).toBe("dropped: client is not pulling messages fast enough");
    expect(quick).toHaveLength(3);
  });
});
