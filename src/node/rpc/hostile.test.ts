import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { KvNetwork, kvTx } from "../../../test/support/block-engine/network.ts";
import { bytesAsFile } from "../../../test/support/bytes-as-file.ts";
import { TEST_NODE_INFO } from "../../../test/support/node-info.ts";
import { pause, waitFor } from "../../../test/support/wait.ts";
import type { AppQuery } from "../../abci/index.ts";
import { type EmbeddedEngine, embeddedSource } from "../../engine/index.ts";
import { nodeConfig } from "../config.ts";
import { ByteBudget } from "../http/index.ts";
import { RPC_METHODS } from "./methods/index.ts";
import { RpcServer } from "./server.ts";

const BLOCK_BYTES = 9_000_000;

let engine: EmbeddedEngine;
let server: RpcServer;
let port = 0;
const sockets: Socket[] = [];

beforeEach(async () => {
  engine = new KvNetwork().engine();
  const chain = embeddedSource(engine);
  const query = (request: AppQuery) => chain.app.query(request);
  const env = { chain, nodeInfo: () => TEST_NODE_INFO, genesis: bytesAsFile(Buffer.from("{}")), query };
  server = new RpcServer(env, { ...nodeConfig({}).rpc, host: "127.0.0.1", port: 0, maxSubscriptionClients: 2 });
  port = (await server.listen()).port;
  for (let i = 0; i < 9; i++) engine.mempool.add(kvTx(`k${i}=${"x".repeat(BLOCK_BYTES / 9)}`));
  engine.produceBlock();
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  vi.restoreAllMocks();
  await server.close();
  await engine.stop();
});

/** A connection that sends requests and never reads. */
function deaf(request: string): Socket {
  const socket = connect({ host: "127.0.0.1", port });
  socket.pause();
  socket.on("error", () => {});
  socket.write(request);
  sockets.push(socket);
  return socket;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

async function statusOf(path: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  await response.arrayBuffer();
  return response.status;
}

describe("requests that follow each other on one connection", () => {
  it("are answered one after the other, and what was asked in vain is forgotten", async () => {
    const block = vi.spyOn(RPC_METHODS.get("block") ?? { call: () => undefined }, "call");
    const socket = deaf(get("/block").repeat(30));
    await waitFor(() => block.mock.calls.length > 0, "the first call");
    expect(await statusOf("/health")).toBe(200);
    expect(block.mock.calls.length).toBeLessThan(3);
    socket.destroy();
    expect(await statusOf("/block")).toBe(200);
    expect(block.mock.calls.length).toBeLessThan(5);
  });

  it("come back in their order", async () => {
    const socket = connect({ host: "127.0.0.1", port });
    sockets.push(socket);
    let text = "";
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    socket.write(get("/health") + get("/nothing") + get("/block?height=1") + get("/status"));
    await waitFor(() => text.includes("node_info"), "the last answer");
    expect(text.match(/HTTP\/1.1 (\d+)/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 200", "HTTP/1.1 200"]);
  });

  it("end the connection when too many wait", async () => {
    const socket = deaf(get("/block") + get("/health").repeat(1000));
    await waitFor(async () => (await statusOf("/health")) === 200, "an answer");
    await new Promise((resolve) => socket.once("close", resolve).resume());
    expect(await statusOf("/health")).toBe(200);
  });
});

describe("readers that do not read", () => {
  it("make room for those that do, for large answers too", { timeout: 180_000 }, async () => {
    for (let i = 0; i < 40; i++) deaf(get("/block"));
    for (let i = 0; i < 4; i++) {
      expect(await statusOf("/health")).toBe(200);
      expect(await statusOf("/block")).toBe(200);
    }
  });

  it("are let go from the longest on, and only those that can be", () => {
    const unread = new ByteBudget(10);
    const gone: string[] = [];
    const release = unread.hold(4, () => gone.push("first"));
    unread.hold(2);
    unread.hold(4, () => gone.push("second"));
    expect(unread.hold(3, () => gone.push("third"))).toBeDefined();
    expect(gone).toEqual(["first"]);
    release?.();
    expect(unread.held).toBe(9);
    expect(unread.hold(9)).toBeUndefined();
    expect(unread.hold(11)).toBeUndefined();
  });

  it("are forgotten when they go while a subscription of theirs is under way", async () => {
    const open = async (): Promise<WebSocket> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/websocket`);
      await new Promise((resolve) => socket.once("open", resolve));
      return socket;
    };
    const query = "tm.event='NewBlock'";
    vi.spyOn(RPC_METHODS.get("status") ?? { call: () => undefined }, "call").mockImplementation(() => {
      const until = performance.now() + 10;
      while (performance.now() < until);
      return {};
    });
    for (let i = 0; i < 4; i++) {
      const socket = await open();
      const calls = [...Array(19).fill({ id: 1, method: "status" }), { id: 2, method: "subscribe", params: { query } }];
      socket.on("error", () => {});
      await new Promise((resolve) => socket.send(JSON.stringify(calls), resolve));
      await pause(30);
      socket.terminate();
    }
    await pause(1000);
    const socket = await open();
    const answer = new Promise((resolve) => socket.once("message", (data) => resolve(JSON.parse(String(data)))));
    socket.send(JSON.stringify({ id: 3, method: "subscribe", params: { query } }));
    expect(await answer).toMatchObject({ id: 3, result: {} });
    socket.terminate();
  });
});
