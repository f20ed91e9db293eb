import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { GatewayClient } from "./client.ts";
import type { GatewayCredential } from "./credential.ts";
import { sendRequest } from "./request.browser.ts";
import { readFeed } from "./stream/feed.ts";
import { openSocket as openPageSocket } from "./stream/socket.browser.ts";
import { openSocket } from "./stream/socket.ts";
import type { GatewayCaller, WebTarget } from "./target.ts";

const PROVIDER = "svc1provider";
const CREDENTIAL: GatewayCredential = { kind: "token", account: "svc1tenant", sign: () => new Uint8Array(64) };
const ID = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: PROVIDER };
const CALLER: GatewayCaller = { credential: undefined, token: async () => "TOKEN", connectMs: 5_000, now: 0 };

let server: Server;
let listener: RequestListener;

beforeEach(async () => {
  server = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  vi.unstubAllGlobals();
  server.close().closeAllConnections();
});

function target(path = ""): WebTarget {
  return { provider: PROVIDER, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` };
}

describe("a gateway at a URL", () => {
  it("is asked below it, with a token alone", async () => {
    const asked: string[] = [];
    listener = ({ method, url, headers }, response) => {
      asked.push(`${method} ${url} ${headers.authorization?.split(" ")[0] ?? "-"} ${headers.cookie ?? "-"}`);
      response.end('{"phase":"bidding"}');
    };
    const client = new GatewayClient({ ...target("/relay/p/"), credential: CREDENTIAL });
    expect(await client.orderStatus(ID)).toMatchObject({ phase: "bidding" });
    await client.version();
    await client.restart(ID, "web");
    expect(asked).toEqual([
      "GET /relay/p/order/7/1/1 Bearer -",
      "GET /relay/p/version - -",
      "POST /relay/p/lease/7/1/1/service/web/restart Bearer -",
    ]);
  });

  it("is asked for lines of the named services, or names none for all", async () => {
    const asked: string[] = [];
    server.on("upgrade", ({ url = "" }, socket) => {
      asked.push(url);
      socket.destroy();
    });
    const client = new GatewayClient({ ...target(), credential: CREDENTIAL });
    for (const services of [[], ["web", "db"]]) {
      const lines = client.logs(ID, { services, follow: false, tail: 5, signal: new AbortController().signal });
      await expect(lines[Symbol.asyncIterator]().next()).rejects.toThrow();
    }
    const path = "/lease/7/1/1/logs?follow=0&tail=5";
    expect(asked).toEqual([path, `${path}&service=web%2Cdb`]);
  });

  it("refuses in the provider's words", async () => {
    const words = { code: "not_here", message: "no such order", hint: "look again" };
    listener = (_, response) => response.writeHead(404).end(JSON.stringify(words));
    const refused = new GatewayClient({ ...target(), credential: CREDENTIAL }).orderStatus(ID);
    await expect(refused).rejects.toMatchObject({ status: 404, reason: "not_here", hint: "look again" });
  });

  it.each<[string, RequestListener, RegExp]>([
    ["never answers", () => {}, /^no answer within 0.2 s: /],
    ["never ends its answer", (_, response) => response.write('{"a":'), /^no answer within 0.2 s: /],
    ["answers with a web page", (_, response) => response.end(" <!doctype html>"), /^it is a web page: /],
    ["answers with something else", (_, response) => response.end("ok"), /^it is not JSON: /],
    [
      "redirects",
      (_, response) => response.writeHead(302, { location: "/x" }).end(),
      /^it redirects to another address: /,
    ],
    [
      "rounds numbers",
      (_, response) => response.end('{"a":[{"b":9007199254740993}]}'),
      /^it has a number beyond 2\^53: /,
    ],
  ])("that %s is refused with a sentence", async (_, answer, sentence) => {
    listener = answer;
    await expect(new GatewayClient({ ...target(), timeoutMs: 200 }).version()).rejects.toThrow(sentence);
  });

  it("that sends without end is left after 4 MiB", async () => {
    let sent = 0;
    listener = (_, response) => {
      const more = (): void => {
        sent += 1 << 16;
        if (!response.destroyed && sent < 100 << 20) response.write("1".repeat(1 << 16), more);
      };
      response.write("[");
      more();
    };
    await expect(new GatewayClient(target()).version()).rejects.toThrow("it is larger than 4 MiB");
    expect(sent).toBeLessThan(50 << 20);
  });

  it.each(["gateway.example.com", "javascript:alert(1)", "https://a:b@example.com", "https://example.com/?x"])(
    "%s is not one",
    async (url) => {
      await expect(new GatewayClient({ provider: PROVIDER, url }).version()).rejects.toMatchObject({ code: 2 });
    },
  );

  it("says what a page can do when it cannot be reached", async () => {
    const gone = new GatewayClient({ provider: PROVIDER, url: "http://127.0.0.1:1" }).version();
    await expect(gone).rejects.toMatchObject({ code: 1, hint: expect.stringContaining("certificate") });
  });
});

it("pages cannot check certificates", async () => {
  const pinned = { provider: PROVIDER, hostUri: "https://p.example.com:8443", certificateOf: async () => undefined };
  const request = { method: "GET", path: "/version", timeoutMs: 1 } as const;
  await expect(sendRequest(pinned, request, CALLER)).rejects.toMatchObject({ code: 8 });
  await expect(openPageSocket(pinned, "/", CALLER)).rejects.toMatchObject({ code: 8 });
});

describe.each([
  ["a page", openPageSocket],
  ["Node.js", openSocket],
])("a stream of %s", (name, open) => {
  let sockets: WebSocketServer;
  const protocols: string[] = [];
  beforeEach(() => {
    vi.stubGlobal("WebSocket", PageWebSocket);
    protocols.length = 0;
    sockets = new WebSocketServer({
      server,
      handleProtocols: (offered) => {
        protocols.push(...offered);
        return "svc.gateway.v1";
      },
    });
  });
  afterEach(() => sockets.close());

  const read = (signal = new AbortController().signal) => ({ parse: (value: unknown) => value, signal });

  it("carries the token, messages both ways and the end", async () => {
    const heard: string[] = [];
    sockets.on("connection", (socket, request) => {
      if (request.headers.authorization !== undefined) heard.push(request.headers.authorization);
      socket.on("message", (data) => {
        heard.push(String(data));
        socket.send("[2]");
        socket.close(1000);
      });
      socket.send("[1]");
    });
    const socket = await open(target("/relay"), "/logs", CALLER);
    socket.send(Uint8Array.of(0x68, 0x69));
    const got: unknown[] = [];
    for await (const each of readFeed(socket, read())) got.push(each);
    expect(got).toEqual([[1], [2]]);
    expect([...protocols, ...heard]).toEqual(
      name === "a page" ? ["svc.gateway.v1", "svc.bearer.TOKEN", "hi"] : ["Bearer TOKEN", "hi"],
    );
  });

  it("ends with the provider's reason", async () => {
    sockets.on("connection", (socket) => socket.close(4001, "the lease has ended"));
    const socket = await open(target(), "/logs", CALLER);
    const all = drain(readFeed(socket, read()));
    await expect(all).rejects.toMatchObject({
      closeCode: 4001,
      message: expect.stringContaining("the lease has ended"),
    });
  });

  it("ends when its reader goes", async () => {
    const closed = new Promise<void>((resolve) => sockets.on("connection", (socket) => socket.on("close", resolve)));
    const stop = new AbortController();
    const reading = drain(readFeed(await open(target(), "/logs", CALLER), read(stop.signal)));
    stop.abort();
    await reading;
    await closed;
  });

  it("refuses a message that is no JSON, or too large", async () => {
    sockets.on("connection", (socket) => socket.send("<p>"));
    await expect(drain(readFeed(await open(target(), "/logs", CALLER), read()))).rejects.toMatchObject({ code: 5 });
    sockets.removeAllListeners("connection").on("connection", (socket) => socket.send("1".repeat((1 << 20) + 1)));
    await expect(drain(readFeed(await open(target(), "/logs", CALLER), read()))).rejects.toThrow();
  });

  it("is refused with an error where the server does not open it", async () => {
    sockets.close();
    server.removeAllListeners("upgrade").on("upgrade", (_, socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n"));
    await expect(open(target(), "/logs", CALLER)).rejects.toMatchObject({ codespace: "provider-client" });
    server.removeAllListeners("upgrade").on("upgrade", () => {});
    await expect(open(target(), "/logs", { ...CALLER, connectMs: 50 })).rejects.toMatchObject({
      codespace: "provider-client",
    });
  });
});

it("a page that leaves 16 MiB unread is not flooded further", async () => {
  vi.stubGlobal("WebSocket", PageWebSocket);
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    for (let i = 0; i < 64; i++) socket.send(`"${"x".repeat(1 << 19)}"`);
  });
  const socket = await openPageSocket(target(), "/logs", { ...CALLER, token: async () => undefined });
  await vi.waitUntil(() => socket.end !== undefined, { timeout: 30_000 });
  expect(socket.end).toMatchObject({
    closeCode: 1009,
    message: expect.stringContaining("more than 16 MiB are unread"),
  });
  sockets.close();
});

/** Errors of a browser's websocket without a listener are ignored. */
class PageWebSocket extends WebSocket {
  constructor(url: string | URL, protocols?: string[]) {
    super(url, protocols);
    this.on("error", () => {});
  }
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}
