import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { NodeDouble, statusAnswer } from "../../../test/support/node-double.ts";
import { RpcClient } from "../index.ts";
import { loadConnect } from "./event-connection.browser.ts";
import type { ConnectionHandlers, EventConnection } from "./event-connection.ts";
import { httpTransport } from "./transport.browser.ts";

const node = new NodeDouble();

beforeEach(async () => {
  await node.start();
  node.methods.status = () => statusAnswer(9);
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await node.stop();
});

function rpc(address: string): RpcClient {
  return new RpcClient(address, { transport: httpTransport(new URL(`http://${address}`)) });
}

describe("requests by fetch", () => {
  it("carry calls and answers", async () => {
    expect(await rpc(node.address).call("status")).toMatchObject({ sync_info: { latest_block_height: "9" } });
  });

  it("report an unreachable node, with what a page can do", async () => {
    const client = rpc(node.address);
    await node.stop();
    const refused = client.call("status");
    await expect(refused).rejects.toThrow(/^cannot reach the node at http:\/\/127.0.0.1:\d+: .*: no connection$/);
    await expect(refused).rejects.toMatchObject({ code: 1, hint: expect.stringContaining("cors-allowed-origins") });
  });

  it.each([
    [429, {}, "", "the server answers with HTTP status 429: the node is busy"],
    [502, {}, "<p>no upstream</p>", "the server answers with HTTP status 502: unexpected answer"],
    [302, { location: "https://other.example/" }, "", "the server answers with HTTP status 302: unexpected answer"],
    [200, {}, " ".repeat(2000), "the answer is larger than 1000 bytes: unexpected answer"],
  ])("refuse an answer of status %d in one sentence", async (status, headers, text, words) => {
    const server = createServer((_, answer) => answer.writeHead(status, headers).end(text));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await expect(httpTransport(url, () => 1000).post("{}", 1000)).rejects.toThrow(words);
    server.close();
  });

  it("end with their time, and with the client", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const client = rpc(`127.0.0.1:${(silent.address() as AddressInfo).port}`);
    await expect(client.call("status", {}, 20)).rejects.toThrow(/no answer within 0.02 s/);
    const pending = client.call("status");
    client.close();
    await expect(pending).rejects.toThrow(/^cannot reach the node/);
    silent.closeAllConnections();
    silent.close();
  });
});

/** The events of a connection, in order. */
class Log implements ConnectionHandlers {
  readonly told: string[] = [];
  onOpen = (): unknown => this.told.push("open");
  onText = (text: string): unknown => this.told.push(text);
  onLife = (): unknown => this.told.push("life");
  onEnd = (reason: Error): unknown => this.told.push(reason.message);

  async until(count: number): Promise<readonly string[]> {
    while (this.told.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    return this.told;
  }
}

describe("websockets of the browser", () => {
  async function connect(log: Log): Promise<EventConnection> {
    vi.stubGlobal("WebSocket", WebSocket);
    const begin = await loadConnect();
    return begin(new URL(`ws://${node.address}/websocket`), log);
  }

  it("carry text both ways and report the end", async () => {
    const log = new Log();
    const connection = await connect(log);
    connection.send("nobody hears this yet");
    expect(await log.until(1)).toEqual(["open"]);
    connection.send('{"jsonrpc":"2.0","id":7,"method":"subscribe","params":{"query":"q"}}');
    const [, life, text = ""] = await log.until(3);
    expect([life, JSON.parse(text)]).toEqual(["life", { jsonrpc: "2.0", id: 7, result: {} }]);
    await node.stop();
    expect((await log.until(4))[3]).toBe("the node closed the connection (1006)");
  });

  it("ask for a sign of life by a call", async () => {
    const log = new Log();
    const connection = await connect(log);
    await log.until(1);
    connection.ping();
    const [, life, text = ""] = await log.until(3);
    expect([life, JSON.parse(text)]).toEqual(["life", { jsonrpc: "2.0", id: 0, result: {} }]);
    connection.close();
  });

  it("are given up at once when they are silent, and report nothing after an orderly end", async () => {
    const [silent, closed] = [new Log(), new Log()];
    const [first, second] = [await connect(silent), await connect(closed)];
    await Promise.all([silent.until(1), closed.until(1)]);
    second.close();
    first.abort();
    expect(silent.told).toEqual(["open", "the node stopped answering"]);
    await node.stop();
    expect([silent.told.length, closed.told]).toEqual([2, ["open"]]);
  });
});
