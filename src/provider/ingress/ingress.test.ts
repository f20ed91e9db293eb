import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { longestAcceptQueue, waitingConnections } from "../../../test/support/accept-queue.ts";
import { breakOff, upgradeRequest } from "../../../test/support/break-off.ts";
import type { HttpOptions } from "../../sdl/index.ts";
import { parseNetworks } from "../../util/servers/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import type { RouteTarget } from "../cluster/index.ts";
import { type ClientRules, Ingress } from "./index.ts";

const LEASE: LeaseKey = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
const OPTIONS: HttpOptions = {
  maxBodySize: 1_000,
  readTimeout: 5_000,
  sendTimeout: 5_000,
  nextTries: 3,
  nextTimeout: 0,
};
const HOST = "app.example.com";

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function target(options: Partial<HttpOptions> = {}): RouteTarget {
  return { lease: LEASE, service: "web", port: 80, options: { ...OPTIONS, ...options } };
}

/** A replica: an HTTP server on loopback. */
async function replica(listener: RequestListener): Promise<{ readonly address: string; readonly server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  return { address: `127.0.0.1:${address.port}`, server };
}

/** An address where nothing listens. */
async function deadAddress(): Promise<string> {
  const { address, server } = await replica(() => {});
  await new Promise((resolve) => server.close(resolve));
  return address;
}

async function ingress(
  backends: readonly string[],
  options: Partial<HttpOptions> = {},
  clients: Partial<ClientRules> = {},
): Promise<{ readonly ingress: Ingress; readonly port: number }> {
  const made = new Ingress({ backends: () => backends, host: "127.0.0.1", port: 0, clients });
  cleanups.push(() => made.close());
  made.routes.set(HOST, target(options));
  return { ingress: made, port: await made.listen() };
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly message: IncomingMessage;
}

interface Sending {
  readonly host?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | readonly string[];
}

function send(port: number, sending: Sending = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { host = HOST, method = "GET", path = "/", headers = {}, body } = sending;
    const request = httpRequest({ port, host: "127.0.0.1", method, path, headers: { host, ...headers }, agent: false });
    request.on("error", reject);
    request.on("response", (message) => {
      let text = "";
      message.on("data", (chunk) => {
        text += String(chunk);
      });
      message.on("error", reject);
      message.on("end", () => resolve({ status: message.statusCode ?? 0, body: text, message }));
    });
    for (const part of typeof body === "object" ? body : []) request.write(part);
    request.end(typeof body === "string" ? body : undefined);
  });
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    request.on("data", (chunk) => {
      text += String(chunk);
    });
    request.on("end", () => resolve(text));
  });
}

describe("ingress: connections of one address", () => {
  /** An idle connection that is open. */
  const occupy = (port: number): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(socket));
      socket.on("error", () => {});
      cleanups.push(() => socket.destroy());
    });
  const web = () => replica((_request, response) => response.end("web"));
  const limit = (connectionsPerAddress: number, trusted: readonly string[] = []): Partial<ClientRules> => {
    return { connectionsPerAddress, trustedProxies: parseNetworks(trusted) };
  };

  it("above the limit are answered with 429, and taken again when others have ended", async () => {
    const { port } = await ingress([(await web()).address], {}, limit(2));
    const first = await occupy(port);
    await occupy(port);
    const refused = await send(port);
    expect([refused.status, refused.message.headers.connection]).toEqual([429, "close"]);
    expect(refused.body).toMatch(/Too many connections from this address/);
    const upgrade = { connection: "Upgrade", upgrade: "websocket" };
    expect((await send(port, { headers: upgrade })).status).toBe(429);
    first.destroy();
    await vi.waitFor(async () => expect((await send(port)).status).toBe(200), 30_000);
  });

  it("far above the limit are cut", async () => {
    const { port } = await ingress([(await web()).address], {}, limit(1));
    await occupy(port);
    await occupy(port);
    await expect(send(port)).rejects.toThrow(/ECONNRESET|socket hang up/);
  });

  it("are not counted for a trusted proxy", async () => {
    const { port } = await ingress([(await web()).address], {}, limit(1, ["10.0.0.0/8", "127.0.0.0/8"]));
    await occupy(port);
    await occupy(port);
    expect((await send(port)).status).toBe(200);
  });

  it.each(["x", "10.0.0.0/33", "10.0.0", "fd00::/129", "10.0.0.0/", ""])("refuses %j as a network", (text) => {
    expect(() => parseNetworks([text])).toThrow("is neither an address nor a network: write 10.0.0.7 or 10.0.0.0/8");
  });
});

describe("ingress: where requests go", () => {
  it("refuses TRACE, which would show scripts what the proxy adds", async () => {
    const { address } = await replica((_request, response) => response.end("web"));
    const { port } = await ingress([address]);
    const { status, message } = await send(port, { method: "TRACE" });
    expect([status, message.headers.allow]).toEqual([405, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"]);
  });

  it("routes by host name, whatever its case, port or final dot", async () => {
    const { address } = await replica((_request, response) => response.end("web"));
    const { port } = await ingress([address]);
    for (const host of [HOST, "APP.Example.COM", `${HOST}:8080`, `${HOST}.`]) {
      expect((await send(port, { host })).body).toBe("web");
    }
  });

  it("answers 404 for a host nobody has, also after its route was removed", async () => {
    const { address } = await replica((_request, response) => response.end("web"));
    const { ingress: made, port } = await ingress([address]);
    expect((await send(port, { host: "other.example.com" })).status).toBe(404);
    expect((await send(port, { host: "bad_host!" })).status).toBe(404);
    made.routes.remove(HOST);
    expect((await send(port)).status).toBe(404);
  });

  it("answers 503 while no replica is ready", async () => {
    const { port } = await ingress([]);
    const answer = await send(port);
    expect(answer.status).toBe(503);
    expect(answer.body).toMatch(/no replica that is ready/);
  });

  it("asks the replicas in turn", async () => {
    const one = await replica((_request, response) => response.end("one"));
    const two = await replica((_request, response) => response.end("two"));
    const { port } = await ingress([one.address, two.address]);
    const bodies = [];
    for (let i = 0; i < 4; i++) bodies.push((await send(port)).body);
    expect(bodies.sort()).toEqual(["one", "one", "two", "two"]);
  });

  it("gives a service a loopback port that needs no host name", async () => {
    const { address } = await replica((request, response) => response.end(request.url));
    const { ingress: made } = await ingress([address]);
    const port = await made.exposeService(target());
    expect(await made.exposeService(target())).toBe(port);
    expect(await (await fetch(`http://127.0.0.1:${port}/path?q=1`)).text()).toBe("/path?q=1");
    await made.removeLease(LEASE);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });
});

describe("ingress: what is passed on", () => {
  it("keeps method, path, host and body, and adds the client's address itself", async () => {
    const { address } = await replica(async (request, response) => {
      const { method, url, headers } = request;
      response.end(JSON.stringify({ method, url, headers, body: await bodyOf(request) }));
    });
    const { port } = await ingress([address]);
    const headers = { "x-forwarded-for": "6.6.6.6", "x-own": "kept", connection: "x-drop", "x-drop": "1" };
    const answer = await send(port, { method: "POST", path: "/a?b=c", headers, body: "hello" });
    const seen = JSON.parse(answer.body);
    expect(seen).toMatchObject({ method: "POST", url: "/a?b=c", body: "hello" });
    expect(seen.headers).toMatchObject({
      host: HOST,
      "x-own": "kept",
      "x-forwarded-for": "127.0.0.1",
      "x-real-ip": "127.0.0.1",
      "x-forwarded-proto": "http",
      "x-forwarded-host": HOST,
    });
    expect(seen.headers["x-drop"]).toBeUndefined();
  });

  it("passes on what a proxy says of its client, where the operator names the proxy, and adds the proxy's address", async () => {
    const { address } = await replica((request, response) => response.end(JSON.stringify(request.headers)));
    const said = {
      "x-forwarded-for": "6.6.6.6, 7.7.7.7",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "shop.example",
      "x-forwarded-port": "443",
      "x-real-ip": "6.6.6.6",
      x_forwarded_for: "8.8.8.8",
      forwarded: "for=9.9.9.9",
    };
    const clients = { forwardedFrom: parseNetworks(["127.0.0.0/8"]) };
    const { port } = await ingress([address], {}, clients);
    const seen = JSON.parse((await send(port, { headers: said })).body);
    const { x_forwarded_for: _, forwarded: __, ...kept } = said;
    expect(seen).toMatchObject({ ...kept, "x-forwarded-for": "6.6.6.6, 7.7.7.7, 127.0.0.1" });
    expect([seen.forwarded, seen.x_forwarded_for]).toEqual([undefined, undefined]);
    const other = await ingress([address], {}, { forwardedFrom: parseNetworks(["10.0.0.0/8"]) });
    const stranger = JSON.parse((await send(other.port, { headers: said })).body);
    expect(stranger).toMatchObject({
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "http",
      "x-real-ip": "127.0.0.1",
    });
    expect(stranger["x-forwarded-port"]).toBeUndefined();
  });

  it("keeps status, repeated headers and a chunked body", async () => {
    const { address } = await replica(async (request, response) => {
      response.writeHead(
        201,
        "Made",
        [
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
        ].flat(),
      );
      response.end(await bodyOf(request));
    });
    const { port } = await ingress([address]);
    const answer = await send(port, { method: "POST", body: ["one ", "two"] });
    expect([answer.status, answer.message.statusMessage, answer.body]).toEqual([201, "Made", "one two"]);
    expect(answer.message.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  });

  it("streams: the first piece arrives while the replica is still writing", async () => {
    let finish = () => {};
    const { address } = await replica((_request, response) => {
      response.write("first");
      finish = () => response.end("last");
    });
    const { port } = await ingress([address]);
    const pieces = await new Promise<string[]>((resolve, reject) => {
      const request = httpRequest({ port, host: "127.0.0.1", headers: { host: HOST }, agent: false }, (message) => {
        const seen: string[] = [];
        message.on("data", (chunk) => {
          seen.push(String(chunk));
          if (seen.length === 1) finish();
        });
        message.on("end", () => resolve(seen));
      });
      request.on("error", reject);
      request.end();
    });
    expect(pieces).toEqual(["first", "last"]);
  });

  it("carries a websocket both ways", async () => {
    const { address, server } = await replica((_request, response) => response.end());
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket) => socket.on("message", (data) => socket.send(`echo ${data}`)));
    const { port } = await ingress([await deadAddress(), address]);
    const client = new WebSocket(`ws://127.0.0.1:${port}/chat`, { headers: { host: HOST } });
    cleanups.push(() => client.terminate());
    const answer = await new Promise((resolve, reject) => {
      client.on("open", () => client.send("hi"));
      client.on("message", (data) => resolve(String(data)));
      client.on("error", reject);
    });
    expect(answer).toBe("echo hi");
  });

  it("passes a refused upgrade on", async () => {
    const { address, server } = await replica((_request, response) => response.end());
    server.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"));
    const { port } = await ingress([address]);
    const client = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host: HOST } });
    const error = await new Promise<Error>((resolve) => client.on("error", resolve));
    expect(error.message).toMatch(/401/);
  });
});

describe("ingress: http options", () => {
  it("refuses a body that is too large, announced or not, with 413", async () => {
    const { address } = await replica(async (request, response) => response.end(await bodyOf(request)));
    const { port } = await ingress([address], { maxBodySize: 10 });
    expect((await send(port, { method: "POST", body: "0123456789" })).status).toBe(200);
    expect((await send(port, { method: "POST", body: "0123456789x" })).status).toBe(413);
    expect((await send(port, { method: "POST", body: ["0123456789", "x"] })).status).toBe(413);
  });

  it("answers 504 when the replica does not answer within read_timeout", async () => {
    const { address } = await replica(() => {});
    const { port } = await ingress([address], { readTimeout: 50 });
    expect((await send(port)).status).toBe(504);
  });

  it("answers 504 when the replica does not take the body within send_timeout", async () => {
    const { address } = await replica((request) => request.pause());
    const { port } = await ingress([address], { sendTimeout: 50, maxBodySize: 64 << 20 });
    expect((await send(port, { method: "POST", body: "x".repeat(16 << 20) })).status).toBe(504);
  });

  it("answers a client that sends far more than it may, and cuts one that does not end", async () => {
    const { address } = await replica(async (request, response) => response.end(await bodyOf(request)));
    const { port } = await ingress([address], { maxBodySize: 1_000 });
    const client = connect(port, "127.0.0.1");
    cleanups.push(() => void client.destroy());
    let text = "";
    client.on("data", (piece) => {
      text += String(piece);
    });
    client.write(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: ${1 << 30}\r\n\r\n`);
    client.on("error", () => {}).write(Buffer.alloc(1 << 20));
    await new Promise((resolve) => client.once("close", resolve));
    expect(text).toMatch(/^HTTP\/1\.1 413 .*\r\n413 /s);
  });

  it("answers an ACME server before tenants' routes, and leaves other tokens to the tenant", async () => {
    const { address } = await replica((_request, response) => response.end("tenant"));
    const { ingress: made, port } = await ingress([address]);
    const path = "/.well-known/acme-challenge/token-1";
    await made.challenges.show("token-1", "answer");
    for (const host of [HOST, "new.example.com"]) {
      expect(await send(port, { host, path })).toMatchObject({ status: 200, body: "answer" });
    }
    expect((await send(port, { path: "/.well-known/acme-challenge/token-2" })).body).toBe("tenant");
    await made.challenges.hide("token-1");
    expect((await send(port, { path })).body).toBe("tenant");
  });

  it("asks the next replica when one takes no connection, also for a request with a body", async () => {
    const { address } = await replica(async (request, response) => response.end(await bodyOf(request)));
    const { port } = await ingress([await deadAddress(), await deadAddress(), address]);
    for (let i = 0; i < 3; i++) expect((await send(port, { method: "POST", body: "x" })).body).toBe("x");
  });

  it("gives up after next_tries, or at once with next_cases off", async () => {
    const { address } = await replica((_request, response) => response.end("late"));
    const dead = [await deadAddress(), await deadAddress()];
    const two = await ingress([...dead, address], { nextTries: 2 });
    expect((await send(two.port)).status).toBe(502);
    const off = await ingress([dead[0] ?? "", address], { nextCases: ["off"] });
    expect((await send(off.port)).status).toBe(502);
  });

  it("repeats a GET that broke off, but never a POST", async () => {
    let posts = 0;
    const broken = await replica((request) => {
      if (request.method === "POST") posts++;
      request.socket.destroy();
    });
    const sound = await replica((_request, response) => response.end("sound"));
    const first = await ingress([broken.address, sound.address]);
    expect((await send(first.port)).body).toBe("sound");
    const second = await ingress([broken.address, sound.address]);
    expect((await send(second.port, { method: "POST", body: "x" })).status).toBe(502);
    expect(posts).toBe(1);
  });

  it("tries elsewhere on a status in next_cases, and passes the last answer on when all fail", async () => {
    const failing = await replica((_request, response) => response.writeHead(503).end("mine"));
    const sound = await replica((_request, response) => response.end("sound"));
    const cases = { nextCases: ["503"] };
    const mixed = await ingress([failing.address, sound.address], cases);
    expect((await send(mixed.port)).body).toBe("sound");
    const alone = await ingress([failing.address], cases);
    expect(await send(alone.port)).toMatchObject({ status: 503, body: "mine" });
  });

  it("cuts the connection when a replica breaks off in the middle of its answer", async () => {
    const { address } = await replica((_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("part", () => response.destroy());
    });
    const { port } = await ingress([address]);
    await expect(send(port)).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });
});

describe("ingress: bad replicas", () => {
  async function speaking(head: string): Promise<string> {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.write(`${head}\r\nContent-Length: 2\r\n\r\nok`, "latin1"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => server.close());
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("no address");
    return `127.0.0.1:${address.port}`;
  }

  it.each([
    ["HTTP/1.1 200 A\x01B", 200, "ok"],
    ["HTTP/1.1 404 \x7f", 404, "ok"],
    ["HTTP/1.1 099 Odd", 502, "502 The service broke"],
    ["HTTP/1.1 000 Odd", 502, "502 The service broke"],
    ["HTTP/1.1 200 OK\r\nX: a\x01b", 502, "502 The service broke"],
  ])("outlives the answer %j", async (head, status, body) => {
    const { port } = await ingress([await speaking(head)]);
    const answer = await send(port);
    expect(answer).toMatchObject({ status, body: expect.stringContaining(body) });
  });
});

describe("ingress: bad clients", () => {
  const websocketHead = () => `GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;

  const raw = (port: number, text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(text));
      let answer = "";
      socket.on("data", (chunk) => {
        answer += String(chunk);
      });
      socket.on("close", () => resolve(answer));
      socket.on("error", reject);
    });

  it("refuses requests that two parsers could read differently, and headers that are too large", async () => {
    const { address } = await replica((_request, response) => response.end("reached"));
    const { port } = await ingress([address]);
    const smuggle = `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(await raw(port, smuggle)).toMatch(/^HTTP\/1\.1 400/);
    const large = `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX: ${"a".repeat(20_000)}\r\n\r\n`;
    expect(await raw(port, large)).toMatch(/^HTTP\/1\.1 431/);
  });

  it.each([
    ["two Host headers", `GET / HTTP/1.1\r\nHost: ${HOST}\r\nHost: other.example.com\r\n\r\n`],
    ["an address with a user", `GET http://${HOST}@other.example.com/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`],
    ["an address of another kind", `GET ftp://${HOST}/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`],
    [
      "another transfer coding",
      `POST / HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["two Host headers of an upgrade", `${websocketHead()}Host: other.example.com\r\n\r\n`],
  ])("refuses %s", async (_, text) => {
    const { address } = await replica((_request, response) => response.end("reached"));
    const { port } = await ingress([address]);
    expect(await raw(port, text)).toMatch(/^HTTP\/1\.1 400/);
  });

  it("keeps the length of a body that the client calls a matter of the connection", async () => {
    const seen: string[] = [];
    const { address } = await replica(async (request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.host} ${await bodyOf(request)}`);
      response.end();
    });
    const { port } = await ingress([address]);
    const inner = `GET /inner HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`;
    const head = `GET /outer HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: ${inner.length}\r\n`;
    await raw(port, `${head}Connection: close, content-length, host\r\n\r\n${inner}`);
    expect(seen).toEqual([`GET /outer ${HOST} ${inner}`]);
  });

  it("lets no client forge its address, underscores included", async () => {
    const { address } = await replica((request, response) => response.end(JSON.stringify(request.headers)));
    const { port } = await ingress([address]);
    const names = ["X_Forwarded_For", "X-Forwarded_For", "X-Forwarded-Port", "x_real_ip", "Forwarded", "Proxy"];
    const { body } = await send(port, { headers: Object.fromEntries(names.map((name) => [name, "6.6.6.6"])) });
    expect(body).toContain('"x-forwarded-for":"127.0.0.1"');
    expect(body).not.toContain("6.6.6.6");
  });

  it("goes on when clients break off an upgrade that it refuses", async () => {
    const { address } = await replica((_request, response) => response.end("web"));
    const { port } = await ingress([address]);
    await breakOff(port, upgradeRequest("unknown.example.com", "/"));
    expect((await send(port)).status).toBe(200);
  });

  it("passes on no upgrade except to websocket", async () => {
    const { address, server } = await replica((request, response) => response.end(`plain ${request.headers.upgrade}`));
    server.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 101 Switched\r\nConnection: Upgrade\r\n\r\n"));
    const { port } = await ingress([address]);
    const answer = await raw(port, `${websocketHead().replace("websocket", "h2c")}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*plain undefined/s);
  });

  it.each([
    ["to another protocol", { Upgrade: "h2c" }],
    ["to websocket, which has no body", { Upgrade: "websocket" }],
  ])("keeps the body of a request that asks for an upgrade %s, and reads it within the limits", async (_, upgrade) => {
    const { address } = await replica(async (request, response) => response.end(`got ${await bodyOf(request)}`));
    const { port } = await ingress([address], { maxBodySize: 10 });
    const asking = (body: string | readonly string[]) =>
      send(port, { method: "POST", headers: { Connection: "Upgrade, HTTP2-Settings", ...upgrade }, body });
    expect(await asking("question")).toMatchObject({ status: 200, body: "got question" });
    expect(await asking(["in", "parts"])).toMatchObject({ status: 200, body: "got inparts" });
    expect((await asking("far too long")).status).toBe(413);
  });

  it("closes the connection to the replica when the client leaves", async () => {
    let closed = () => {};
    const left = new Promise<void>((resolve) => {
      closed = resolve;
    });
    let arrived = () => {};
    const here = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { address } = await replica((request) => {
      request.socket.once("close", closed);
      arrived();
    });
    const { port } = await ingress([address]);
    const socket = connect(port, "127.0.0.1", () => socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`));
    await here;
    socket.destroy();
    await left;
  });
});

it.skipIf(longestAcceptQueue() < 4_096)("has room for a thousand connections that come while it is busy", async () => {
  const { port } = await ingress([]);
  expect(waitingConnections(port, 1_024)).toBe(1_024);
});
