import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { GatewayHarness } from "../../../test/support/provider/gateway.ts";
import { PROVIDER } from "../../../test/support/provider/leases.ts";
import { waitFor } from "../../../test/support/wait.ts";
import type { GatewayTarget } from "../../client/index.ts";
import { signToken } from "../../crypto/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import type { OwnCall } from "./calls.ts";
import { MAX_GATEWAY_BODY } from "./limits.ts";
import { relayTo } from "./relay.ts";
import { ConsoleServer } from "./server.ts";

const OTHER = encodeAddress(new Uint8Array(20).fill(201));
const LIMITS = { bodyBytes: 1_000, answerBytes: 10_000, timeoutMs: 30_000 };

let gateway: GatewayHarness;
/** Answers in place of a node, as a stranger might. */
let node: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {};
const heard: IncomingMessage[] = [];
const targets = new Map<string, GatewayTarget>();
/** Requests for a signature that get none. */
const waiting: AbortSignal[] = [];
let server: ConsoleServer;
let origin = "";
let cookie = "";

const sign: OwnCall = {
  method: "POST",
  answer: async (body, signal) => {
    if (body !== "wait") return { status: 200, body: { signature: body } };
    waiting.push(signal);
    return new Promise(() => {});
  },
};

beforeAll(async () => {
  gateway = await GatewayHarness.open();
  node = createServer((asked, response) => {
    heard.push(asked);
    answer(asked, response);
  });
  const echo = new WebSocketServer({ server: node });
  echo.on("connection", (socket) => socket.on("message", (data) => socket.send(`echo ${String(data)}`)));
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  const url = new URL(`http://127.0.0.1:${(node.address() as AddressInfo).port}/base`);
  const provider = async (address: string) => targets.get(address);
  server = new ConsoleServer({ console: relayTo(url, LIMITS), provider, calls: new Map([["sign", sign]]) });
  const link = new URL(await server.listen());
  origin = link.origin;
  const entrance = await fetch(link, { redirect: "manual" });
  expect([entrance.status, entrance.headers.get("location")]).toEqual([303, "/console/"]);
  cookie = entrance.headers.get("set-cookie")?.split(";")[0] ?? "";
  const hostUri = `https://127.0.0.1:${gateway.port}`;
  const certificateOf: GatewayTarget["certificateOf"] = (owner, serial) =>
    gateway.world.chain.certificate(owner, serial);
  targets.set(PROVIDER, { provider: PROVIDER, hostUri, certificateOf });
  // Another account says that its gateway is there.
  targets.set(OTHER, { provider: OTHER, hostUri, certificateOf });
});

afterEach(() => {
  answer = () => {};
  heard.length = 0;
});

afterAll(async () => {
  await server.close();
  node.closeAllConnections();
  node.close();
  await gateway.close();
});

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

function ask(path: string, { method = "GET", headers = {}, body }: Asked = {}) {
  const { hostname, port } = new URL(origin);
  return new Promise<{ status: number; headers: IncomingMessage["headers"]; text: string }>((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers: { cookie, origin, ...headers }, agent: false });
    sent.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.once("error", reject);
    });
    sent.once("error", reject).end(body);
  });
}

function token(): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const { tenant } = gateway;
  const claims = { version: "v1", iss: tenant.address, aud: PROVIDER, jti: randomUUID() } as const;
  const times = { iat, nbf: iat, exp: iat + 900 };
  return signToken({ ...claims, ...times, leases: { access: "full" } }, (bytes) => tenant.sign(bytes));
}

const socketTo = (path: string, headers: Record<string, string>, protocols: string[] = []) =>
  new WebSocket(`${origin.replace("http", "ws")}${path}`, protocols, { headers });

function refusedSocket(path: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = socketTo(path, headers);
    socket.once("error", ({ message }) => resolve(message));
    socket.once("open", () => reject(new Error("the websocket was opened")));
  });
}

describe("who may ask", () => {
  it("is told in a sentence, without a page that could be framed", async () => {
    const stranger = await ask("/console/", { headers: { cookie: "" } });
    expect([stranger.status, stranger.text]).toEqual([
      401,
      expect.stringContaining("open the link that svc console printed"),
    ]);
    expect(stranger.headers).toMatchObject({
      "x-frame-options": "DENY",
      "content-security-policy": expect.stringContaining("connect-src 'self';"),
    });
    const rebound = await ask("/console/api/session", { headers: { host: "evil.example" } });
    expect([rebound.status, JSON.parse(rebound.text).message]).toEqual([
      403,
      expect.stringContaining('"evil.example"'),
    ]);
    expect(heard).toEqual([]);
  });

  it("opens no websocket without the cookie, with another origin or with none", async () => {
    const path = "/console/api/rpc/websocket";
    const headers: Record<string, string>[] = [{ origin }, { origin: "https://evil.example", cookie }, { cookie }];
    for (const each of headers) expect(await refusedSocket(path, each)).toBe("Unexpected server response: 403");
    expect(heard).toEqual([]);
  });

  it("finds nothing beside the console", async () => {
    for (const path of ["/", "/cosmos/bank/v1beta1/params", "/consoles"]) expect((await ask(path)).status).toBe(404);
    expect(heard).toEqual([]);
  });
});

describe("signatures", () => {
  it("are asked for by POST from this origin, with a body of some size", async () => {
    const path = "/console/api/sign";
    const wish = { method: "POST", body: "{}" };
    expect(JSON.parse((await ask(path, wish)).text)).toEqual({ signature: "{}" });
    expect((await ask(path, { method: "GET" })).status).toBe(405);
    expect((await ask(path, { ...wish, body: "x".repeat(300_000) })).status).toBe(413);
    for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }]) {
      expect((await ask(path, { ...wish, headers })).status).toBe(403);
    }
    expect((await ask(path, { ...wish, headers: { cookie: "" } })).status).toBe(401);
    expect(heard).toEqual([]);
  });

  it("are withdrawn with the page", async () => {
    const { hostname, port } = new URL(origin);
    const headers = { cookie, origin };
    const sent = request({ hostname, port, path: "/console/api/sign", method: "POST", headers, agent: false });
    sent.on("error", () => {}).end("wait");
    await waitFor(() => waiting.length > 0, "the request");
    expect(waiting[0]?.aborted).toBe(false);
    sent.destroy();
    await waitFor(() => waiting[0]?.aborted === true, "the withdrawal");
  });
});

describe("the relay to a node", () => {
  it("passes neither the cookie nor the origin on, nor what the node says of pages and cookies back", async () => {
    answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/html", "set-cookie": "a=b", link: "</x>; rel=preload" });
      response.end("<script>alert(1)</script>");
    };
    const got = await ask("/console/x?y=1", { headers: { "x-forwarded-for": "1.2.3.4", accept: "*/*" } });
    expect(heard[0]?.url).toBe("/base/console/x?y=1");
    expect(Object.keys(heard[0]?.headers ?? {}).sort()).toEqual(["accept", "connection", "host"]);
    expect(got.headers["content-type"]).toBe("application/octet-stream");
    expect(got.headers).toMatchObject({ "content-security-policy": expect.stringContaining("sandbox") });
    expect([got.headers["set-cookie"], got.headers.link]).toEqual([undefined, undefined]);
  });

  it.each(["application/json, text/html", "text/plain-html", "text/plain;a,text/html"])(
    "takes the type %j for no data that a page may read",
    async (type) => {
      answer = (_, response) => response.writeHead(200, { "content-type": type }).end("<b>");
      expect((await ask("/console/")).headers["content-type"]).toBe("application/octet-stream");
    },
  );

  it("follows no redirect, and does not show where one leads", async () => {
    answer = (_, response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    const got = await ask("/console/");
    expect([got.status, got.headers.location, heard.length]).toEqual([302, undefined, 1]);
  });

  it("refuses a body that is too large before it is sent on", async () => {
    let received = 0;
    answer = (asked) => asked.on("data", (part: Buffer) => (received += part.length));
    const announced = await ask("/console/", { method: "POST", body: "x".repeat(1_001) });
    expect([announced.status, JSON.parse(announced.text).message]).toEqual([413, "the body is larger than 1000 bytes"]);
    const chunked = { "transfer-encoding": "chunked" };
    expect((await ask("/console/", { method: "POST", headers: chunked, body: "x".repeat(300_000) })).status).toBe(413);
    expect(received).toBe(0);
  });

  it.each([
    ["HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n", "status 0 is none of an answer"],
    ["HTTP/1.1 099 Early\r\nContent-Length: 0\r\n\r\n", "status 99 is none of an answer"],
    ["HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n", "another protocol"],
  ])("refuses the answer %j, and goes on", async (head, reason) => {
    answer = ({ socket }) => socket.write(head);
    const got = await ask("/console/");
    expect([got.status, JSON.parse(got.text).message]).toEqual([502, expect.stringContaining(reason)]);
    answer = (_, response) => response.end();
    expect((await ask("/console/")).status).toBe(200);
  });

  it("breaks an answer off that is too large", async () => {
    answer = (_, response) => response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(1_000_000));
    await expect(ask("/console/")).rejects.toThrow(/aborted|socket hang up/);
  });

  it("carries a websocket, and ends with either side", async () => {
    const socket = socketTo("/console/websocket", { cookie, origin });
    const said = new Promise((resolve) => socket.once("message", (data) => resolve(String(data))));
    socket.once("open", () => socket.send("hello"));
    expect(await said).toBe("echo hello");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    node.closeAllConnections();
    for (const each of heard) each.socket.destroy();
    socket.terminate();
    await closed;
  });
});

describe("the relay to a gateway", () => {
  it("reaches the provider with the page's token", async () => {
    expect((await ask(`/console/api/gateway/${PROVIDER}/version`)).status).toBe(200);
    const lease = await gateway.run(1n);
    const path = `/console/api/gateway/${PROVIDER}/lease/${lease.dseq}/1/1/status`;
    expect((await ask(path)).status).toBe(401);
    const allowed = await ask(path, { headers: { authorization: `Bearer ${await token()}` } });
    expect([allowed.status, JSON.parse(allowed.text).services]).toEqual([200, expect.anything()]);
  });

  it("carries a stream with the token among its protocols", async () => {
    await gateway.run(2n, { job: "echo hello; sleep 1000" });
    const path = `/console/api/gateway/${PROVIDER}/lease/2/1/1/logs?follow=false&tail=-1`;
    const socket = socketTo(path, { cookie, origin }, ["svc.gateway.v1", `svc.bearer.${await token()}`]);
    const lines: string[] = [];
    socket.on("message", (data) => lines.push(String(data)));
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    expect(socket.protocol).toBe("svc.gateway.v1");
    await waitFor(() => lines.length > 0, "a line");
    expect(lines[0]).toContain("hello");
    socket.terminate();
  });

  it.each(["https:%2f%2fevil.example", "127.0.0.1:8443", "..%2f..", "", encodeAddress(new Uint8Array(20).fill(202))])(
    "reaches nothing at %j",
    async (address) => {
      const got = await ask(`/console/api/gateway/${address}/version`);
      expect([got.status, JSON.parse(got.text).message]).toEqual([
        404,
        expect.stringContaining("the chain has no provider"),
      ]);
    },
  );

  it("sends nothing to a server whose certificate is not the provider's on the chain", async () => {
    const got = await ask(`/console/api/gateway/${OTHER}/version`);
    expect([got.status, JSON.parse(got.text).message]).toEqual([502, expect.stringContaining("does not belong to")]);
    expect(await refusedSocket(`/console/api/gateway/${OTHER}/lease/1/1/1/shell`, { cookie, origin })).toMatch(
      /40[34]/,
    );
  });

  it("takes no body of 100 MB", async () => {
    const path = `/console/api/gateway/${PROVIDER}/deployment/1/manifest`;
    const huge = {
      method: "PUT",
      headers: { "content-length": String(100 << 20) },
      body: Buffer.alloc(MAX_GATEWAY_BODY),
    };
    await expect(ask(path, huge).then(({ status }) => status)).resolves.toBe(413);
  });
});
