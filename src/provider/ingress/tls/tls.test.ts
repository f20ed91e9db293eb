import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request as plainRequest, type RequestListener } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, constants, connect as http2Connect } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from "node:tls";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { closed } from "../../../../test/support/closed.ts";
import { readFileText } from "../../../util/index.ts";
import { AUTHORITY, type Issuer, openAuthority } from "../../certificates/index.ts";
import type { ClientRules } from "../clients.ts";
import { HTTP2 } from "../http2/index.ts";
import { Ingress, type IngressTls } from "../server.ts";
import { Certificates } from "./certificates.ts";

const APP = "app.example.com";
const OTHER = "other.example.org";
const WILD = "deep.apps.example.net";
const UNCERTIFIED = "plain.example.com";
const LEASE = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
const OPTIONS = { maxBodySize: 100_000, readTimeout: 5_000, sendTimeout: 5_000, nextTries: 3, nextTimeout: 0 };

const cleanups: (() => unknown)[] = [];
let authority: Issuer;
let ca = "";
let authorityFolder = "";
let folder = "";

beforeAll(async () => {
  authorityFolder = mkdtempSync(join(tmpdir(), "svc-authority-"));
  authority = await openAuthority(authorityFolder);
  ca = readFileText(join(authorityFolder, AUTHORITY.certificate), { maxBytes: 10_000 });
  return () => rmSync(authorityFolder, { recursive: true });
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-certificates-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  await put(APP);
  await put(OTHER);
  await put("*.apps.example.net");
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A new certificate in the folder, as a client of an authority would write it. */
async function put(name: string, form: "pair" | "whole" = "pair"): Promise<void> {
  const { chain, key } = await authority.issue(name, new AbortController().signal);
  const file = join(folder, name.replace("*", "wildcard"));
  if (form === "whole") return writeFileSync(`${file}.pem`, chain + key, { mode: 0o600 });
  writeFileSync(`${file}.key`, key, { mode: 0o600 });
  writeFileSync(`${file}.crt`, chain);
}

interface Setup {
  readonly tls?: Partial<IngressTls>;
  readonly clients?: Partial<ClientRules>;
}

/** An ingress before one replica. */
async function serve(listener: RequestListener, { tls, clients }: Setup = {}) {
  const server = createServer(listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => server.close().closeAllConnections());
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  const errors: string[] = [];
  const add = (text: string, fields: object = {}) => void errors.push(`${text} ${JSON.stringify(fields)}`);
  const log = { debug() {}, info() {}, warn() {}, error: add, trace() {}, child: () => log };
  const ingress = new Ingress({
    backends: () => [`127.0.0.1:${address.port}`],
    host: "127.0.0.1",
    port: 0,
    tls: { host: "127.0.0.1", port: 0, folders: [folder], redirect: false, ...tls },
    log,
    ...(clients === undefined ? {} : { clients }),
  });
  cleanups.push(() => ingress.close());
  for (const host of [APP, OTHER, WILD, UNCERTIFIED]) {
    ingress.routes.set(host, { lease: LEASE, service: "web", port: 80, options: OPTIONS });
  }
  const plain = await ingress.listen();
  return { ingress, plain, port: ingress.tlsPort, replica: server, errors };
}

interface Asked {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

interface Asking {
  readonly servername?: string;
  readonly host?: string;
  readonly path?: string;
  readonly tls?: ConnectionOptions;
}

async function ask(
  port: number,
  { servername = APP, host = servername, path = "/", tls }: Asking = {},
): Promise<Asked> {
  const request = httpsRequest({
    ...{ host: "127.0.0.1", port, path, servername, ca, agent: false, headers: { host } },
    ...tls,
  }).end();
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  let body = "";
  for await (const piece of answer) body += String(piece);
  return { status: answer.statusCode ?? 0, body, headers: answer.headers };
}

function session(port: number, servername = APP): ClientHttp2Session {
  const made = http2Connect(`https://${servername}:${port}`, {
    ...{ ca, servername },
    createConnection: () => tlsConnect({ host: "127.0.0.1", port, ca, servername, ALPNProtocols: ["h2"] }),
  });
  made.on("error", () => {});
  cleanups.push(() => made.destroy());
  return made;
}

async function ask2(stream: ClientHttp2Stream): Promise<Asked> {
  stream.end();
  const [headers] = await once(stream, "response");
  let body = "";
  for await (const piece of stream) body += String(piece);
  return { status: headers[":status"], body, headers };
}

/** The sentence of a handshake that fails. */
async function refusal(port: number, options: ConnectionOptions): Promise<string> {
  const socket = tlsConnect({ host: "127.0.0.1", port, ca, ...options });
  cleanups.push(() => socket.destroy());
  const outcome = await new Promise<string>((resolve) => {
    socket.once("secureConnect", () => resolve("connected"));
    socket.once("error", () => resolve("refused"));
    socket.once("close", () => resolve("refused"));
  });
  return outcome;
}

const hello: RequestListener = (request, response) => {
  response.end(`${request.httpVersion} ${request.method} ${request.url} ${request.headers["x-forwarded-proto"]}`);
};

/** Which certificate a client sees. */
async function shown(port: number, servername: string): Promise<string> {
  const socket = tlsConnect({ host: "127.0.0.1", port, ca, servername });
  cleanups.push(() => socket.destroy());
  await once(socket, "secureConnect");
  return socket.getPeerX509Certificate()?.serialNumber ?? "";
}

describe("TLS for host names", () => {
  it("shows the certificate of the name that the client asks for", async () => {
    const { port } = await serve(hello);
    for (const servername of [APP, OTHER, WILD]) {
      expect(await ask(port, { servername })).toMatchObject({ status: 200, body: "1.1 GET / https" });
    }
    expect(await shown(port, APP)).not.toBe(await shown(port, OTHER));
  });

  it("answers over HTTP/1.1 and HTTP/2, as the client prefers", async () => {
    const { port } = await serve(hello);
    const old = tlsConnect({ host: "127.0.0.1", port, ca, servername: APP, ALPNProtocols: ["http/1.1"] });
    cleanups.push(() => old.destroy());
    await once(old, "secureConnect");
    expect(old.alpnProtocol).toBe("http/1.1");
    const answer = await ask2(session(port).request({ ":path": "/a?b=c" }));
    expect(answer).toMatchObject({ status: 200, body: "1.1 GET /a?b=c https" });
  });

  it.each(["TLSv1", "TLSv1.1"] as const)("refuses %s", async (version) => {
    const { port } = await serve(hello);
    const old = { minVersion: version, maxVersion: version, ciphers: "DEFAULT:@SECLEVEL=0" } as const;
    expect(await refusal(port, { servername: APP, ...old })).toBe("refused");
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)("takes %s", async (version) => {
    const { port } = await serve(hello);
    expect(await ask(port, { tls: { minVersion: version, maxVersion: version } })).toMatchObject({ status: 200 });
  });

  it.each([
    ["no name", {}],
    ["a name without a certificate", { servername: UNCERTIFIED }],
    ["a name two labels below a wildcard", { servername: "a.b.apps.example.net" }],
    ["the name above a wildcard", { servername: "apps.example.net" }],
    [
      "a very long name",
      { servername: `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example` },
    ],
  ])("gives no certificate to a client that asks for %s", async (_, options) => {
    const { port } = await serve(hello);
    expect(await refusal(port, options)).toBe("refused");
    expect(await ask(port)).toMatchObject({ status: 200 });
  });

  it("takes names in any case and with a final dot", async () => {
    const { port } = await serve(hello);
    const tls = { checkServerIdentity: () => undefined };
    for (const servername of ["APP.example.COM", `${APP}.`]) {
      expect(await ask(port, { servername, host: APP, tls })).toMatchObject({ status: 200 });
    }
  });

  it("answers 421 to a request for a name that the certificate shown is not for", async () => {
    const { port } = await serve(hello);
    expect(await ask(port, { servername: APP, host: OTHER })).toMatchObject({ status: 421 });
    expect(await ask2(session(port).request({ ":authority": OTHER }))).toMatchObject({ status: 421 });
    expect(await ask(port, { servername: "one.apps.example.net", host: WILD })).toMatchObject({ status: 200 });
  });

  it("leaves requests without TLS as they are", async () => {
    const { plain } = await serve(hello);
    expect(await askPlain(plain, APP)).toMatchObject({
      status: 200,
      body: "1.1 GET /x https?".replace("https?", "http"),
    });
  });

  it("sends requests without TLS to it, if that is wished, where there is a certificate", async () => {
    const { plain, port } = await serve(hello, { tls: { redirect: true } });
    const answer = await askPlain(plain, APP);
    expect(answer).toMatchObject({ status: 308, headers: { location: `https://${APP}:${port}/x` } });
    expect(await askPlain(plain, UNCERTIFIED)).toMatchObject({ status: 200 });
    expect(await askPlain(plain, "nobody.example.com")).toMatchObject({ status: 404 });
  });

  async function askPlain(port: number, host: string): Promise<Asked> {
    const request = plainRequest({ host: "127.0.0.1", port, path: "/x", headers: { host }, agent: false }).end();
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    let body = "";
    for await (const piece of answer) body += String(piece);
    return { status: answer.statusCode ?? 0, body, headers: answer.headers };
  }
});

describe("certificates in folders", () => {
  it("takes up new ones and forgets those that have gone", async () => {
    const { ingress, port } = await serve(hello);
    expect(await refusal(port, { servername: UNCERTIFIED })).toBe("refused");
    await put(UNCERTIFIED, "whole");
    ingress.look();
    expect(await ask(port, { servername: UNCERTIFIED })).toMatchObject({ status: 200 });
    rmSync(join(folder, `${UNCERTIFIED}.pem`));
    ingress.look();
    expect(await refusal(port, { servername: UNCERTIFIED })).toBe("refused");
  });

  it("tells folders apart, however they are written", async () => {
    const inner = join(folder, "inner");
    mkdirSync(inner);
    for (const suffix of [".crt", ".key"])
      copyFileSync(join(folder, `${OTHER}${suffix}`), join(inner, `${OTHER}${suffix}`));
    const certificates = new Certificates([`${folder}/`, inner]);
    expect(certificates.look()).toEqual({ changed: true, problems: [] });
    expect(certificates.look()).toEqual({ changed: false, problems: [] });
    rmSync(join(folder, `${APP}.crt`));
    expect(certificates.look().changed).toBe(true);
    expect([APP, OTHER].map((host) => certificates.has(host))).toEqual([false, true]);
  });

  it("looks by itself", async () => {
    const { port } = await serve(hello);
    await put(UNCERTIFIED);
    await vi.waitFor(async () => expect(await refusal(port, { servername: UNCERTIFIED })).toBe("connected"), 30_000);
  });

  it("shows a renewed one to new connections", async () => {
    const { ingress, port } = await serve(hello);
    const before = await shown(port, APP);
    const held = session(port);
    expect(await ask2(held.request({}))).toMatchObject({ status: 200 });
    await put(APP);
    ingress.look();
    expect(await shown(port, APP)).not.toBe(before);
    expect(await ask2(held.request({}))).toMatchObject({ status: 200 });
  });

  it.each([
    [
      "torn",
      () => writeFileSync(join(folder, `${APP}.crt`), "-----BEGIN CERTIFICATE-----\nMIIB"),
      "is not a certificate",
    ],
    ["empty", () => writeFileSync(join(folder, `${APP}.crt`), ""), "is not a certificate"],
    [
      "with the key of another",
      () => renameSync(join(folder, `${OTHER}.key`), join(folder, `${APP}.key`)),
      "is not the key",
    ],
    ["without a key", () => writeFileSync(join(folder, `${APP}.key`), "none"), "is not a private key"],
    ["with a key that others can read", () => chmodSync(join(folder, `${APP}.key`), 0o644), "chmod 600"],
    ["of a megabyte", () => writeFileSync(join(folder, `${APP}.crt`), "x".repeat(1 << 20)), `${APP}.crt`],
  ])("goes on with the old one when the new one is %s, and says so once", async (_, damage, sentence) => {
    const { ingress, port, errors } = await serve(hello);
    damage();
    for (let times = 0; times < 3; times++) ingress.look();
    expect(errors).toEqual([expect.stringContaining(sentence)]);
    expect(await ask(port)).toMatchObject({ status: 200 });
  });

  it("goes on when the folder cannot be read, and says so", async () => {
    const { ingress, port, errors } = await serve(hello);
    renameSync(folder, `${folder}-away`);
    ingress.look();
    expect(errors).toEqual([expect.stringContaining(`the folder of certificates ${folder} cannot be read`)]);
    expect(await ask(port)).toMatchObject({ status: 200 });
    renameSync(`${folder}-away`, folder);
  });
});

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** RFC 9113 section 4.1. */
function frame(type: number, flags: number, stream: number, payload: readonly number[]): number[] {
  const { length } = payload;
  return [length >> 16, (length >> 8) & 255, length & 255, type, flags, 0, 0, stream >> 8, stream & 255, ...payload];
}

/** GET / of the application, which ends with its headers. */
function request(id: number): number[] {
  return frame(1, 0x5, id, [0x82, 0x87, 0x84, 0x41, APP.length, ...Buffer.from(APP)]);
}

describe("HTTP/2", () => {
  it("carries bodies both ways and joins cookies", async () => {
    const { port } = await serve((request, response) => {
      response.writeHead(201, ["set-cookie", "a=1", "set-cookie", "b=2", "x-cookie", request.headers.cookie ?? ""]);
      request.pipe(response);
    });
    const stream = session(port).request({ ":method": "POST", cookie: ["one=1", "two=2"] as unknown as string });
    const text = "x".repeat(50_000);
    stream.write(text);
    const answer = await ask2(stream);
    expect(answer).toMatchObject({
      status: 201,
      headers: { "x-cookie": "one=1; two=2", "set-cookie": ["a=1", "b=2"] },
    });
    expect(answer.body).toBe(text);
  });

  it("refuses bodies above the limit of the deployment", async () => {
    const { port } = await serve((request, response) => {
      request.resume().on("end", () => response.end());
    });
    const stream = session(port).request({ ":method": "POST" });
    stream.on("error", () => {});
    stream.write(Buffer.alloc(OPTIONS.maxBodySize + 1));
    const [headers] = await once(stream, "response");
    expect(headers[":status"]).toBe(413);
  });

  it.each([
    ["TRACE", { ":method": "TRACE" }, 405],
    ["CONNECT", { ":method": "CONNECT", ":authority": APP, ":path": undefined, ":scheme": undefined }, 400],
    ["two host names", { ":authority": APP, host: OTHER }, 400],
  ])("refuses %s", async (_, headers, status) => {
    const { port } = await serve(hello);
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    expect(await ask2(session(port).request(given))).toMatchObject({ status });
  });

  it("refuses header lists above the limit, and goes on", async () => {
    const { port } = await serve(hello);
    const tooLong = { "x-long": "x".repeat(HTTP2.headerBytes) };
    expect(await ask2(session(port).request(tooLong))).toMatchObject({ status: 431 });
    const most = { "x-long": "x".repeat(HTTP2.headerBytes - 1_000) };
    expect(await ask2(session(port).request(most))).toMatchObject({ status: 200 });
    const many = Array.from({ length: HTTP2.headerPairs + 1 }, (_, at) => [`x-${at}`, "1"]);
    await expect(ask2(session(port).request(Object.fromEntries(many)))).rejects.toThrow();
    expect(await ask2(session(port).request({}))).toMatchObject({ status: 200 });
  });

  it.each([
    ["requests that are taken back", (id: number) => [...request(id), ...frame(3, 0, id, [0, 0, 0, 8])]],
    ["pings", () => frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])],
    ["settings", () => frame(4, 0, 0, [0, 3, 0, 0, 0, 9])],
  ])("ends a connection that sends hundreds of %s", async (_, piece) => {
    let asked = 0;
    const { port } = await serve((_request, response) => {
      asked++;
      response.end();
    });
    const socket = tlsConnect({ host: "127.0.0.1", port, ca, servername: APP, ALPNProtocols: ["h2"] });
    cleanups.push(() => socket.destroy());
    socket.on("error", () => {});
    const ended = closed(socket);
    await once(socket, "secureConnect");
    const pieces = Array.from({ length: 2_000 }, (_each, at) => piece(2 * at + 1)).flat();
    socket.resume().write(Buffer.concat([Buffer.from(PREFACE), Buffer.from([...frame(4, 0, 0, []), ...pieces])]));
    await ended;
    expect(asked).toBeLessThanOrEqual(HTTP2.requests);
    expect(await ask(port)).toMatchObject({ status: 200 });
  });

  it("allows an address as many requests at once as connections", async () => {
    const waiting: (() => void)[] = [];
    const { port } = await serve((_request, response) => void waiting.push(() => response.end("late")), {
      clients: { connectionsPerAddress: 3 },
    });
    const open = session(port);
    const streams = Array.from({ length: 4 }, () => open.request({}));
    const asked = Promise.allSettled(streams.map(ask2));
    await vi.waitFor(() => expect(waiting).toHaveLength(3), 30_000);
    for (const answer of waiting) answer();
    const answers = await asked;
    expect(answers.map((each) => (each.status === "fulfilled" ? each.value.body : String(each.reason)))).toEqual([
      ...["late", "late", "late"],
      expect.stringContaining("NGHTTP2_REFUSED_STREAM"),
    ]);
    const next = ask2(open.request({}));
    await vi.waitFor(() => expect(waiting).toHaveLength(4), 30_000);
    waiting[3]?.();
    expect(await next).toMatchObject({ status: 200 });
  });

  it("tells a replica when a client takes its request back", async () => {
    let gone = false;
    const { port } = await serve((_request, response) => {
      response.on("close", () => {
        gone = true;
      });
      response.write("begun");
    });
    const stream = session(port).request({});
    stream.on("error", () => {});
    await once(stream, "data");
    stream.close(constants.NGHTTP2_CANCEL);
    await vi.waitFor(() => expect(gone).toBe(true), 30_000);
  });

  it("cuts an answer that its replica does not complete", async () => {
    const { port } = await serve((_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("part", () => response.destroy());
    });
    await expect(ask2(session(port).request({}))).rejects.toThrow();
  });

  it("reads no more from a replica than a client takes", async () => {
    let sent = 0;
    const { port } = await serve((_request, response) => {
      const more = () => {
        while (sent < 200 << 20) {
          sent += 1 << 16;
          if (!response.write(Buffer.alloc(1 << 16))) return void response.once("drain", more);
        }
        response.end();
      };
      more();
    });
    const stream = session(port).request({});
    await once(stream, "response");
    stream.pause();
    let last = -1;
    await vi.waitFor(() => {
      const still = sent === last;
      last = sent;
      expect(still).toBe(true);
    }, 30_000);
    expect(sent).toBeLessThan(64 << 20);
  });
});

describe("websockets", () => {
  it("over TLS", async () => {
    const { port, replica } = await serve(hello);
    echo(replica);
    const options = { ca, servername: APP, headers: { host: APP } };
    const socket = new WebSocket(`wss://127.0.0.1:${port}/`, options);
    cleanups.push(() => socket.terminate());
    await once(socket, "open");
    socket.send("hello");
    expect(String((await once(socket, "message"))[0])).toBe("hello");
  });

  it("over a stream of HTTP/2", async () => {
    const { port, replica } = await serve(hello);
    echo(replica);
    const open = session(port);
    await once(open, "remoteSettings");
    const stream = open.request(
      {
        ":method": "CONNECT",
        ":protocol": "websocket",
        ":path": "/",
        ":scheme": "https",
        ":authority": APP,
        "sec-websocket-version": "13",
      },
      { endStream: false },
    );
    const [headers] = await once(stream, "response");
    expect(headers[":status"]).toBe(200);
    // A masked text frame of one letter (RFC 6455 section 5.2).
    stream.write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x41]));
    const [frame] = await once(stream, "data");
    expect(frame).toEqual(Buffer.from([0x81, 0x01, 0x41]));
    stream.close();
  });

  function echo(server: ReturnType<typeof createServer>): void {
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket) => socket.on("message", (data, binary) => socket.send(data, { binary })));
    cleanups.push(() => {
      for (const client of sockets.clients) client.terminate();
    });
  }
});

describe("connections of hostile clients", () => {
  it("count as those without TLS do", async () => {
    const { port, plain } = await serve(hello, { clients: { connectionsPerAddress: 2 } });
    const first = await open(plain);
    const second = await open(port);
    expect(await refusal(port, { servername: APP })).toBe("refused");
    first.destroy();
    second.destroy();
    await vi.waitFor(async () => expect(await refusal(port, { servername: APP })).toBe("connected"), 30_000);
  });

  it("give back their places when they end", async () => {
    const { port } = await serve(hello, { clients: { connectionsPerAddress: 1 } });
    for (let count = 0; count < 5; count++) {
      await vi.waitFor(async () => expect(await refusal(port, { servername: APP })).toBe("connected"), 30_000);
      for (const cleanup of cleanups.splice(-1)) cleanup();
    }
  });

  it("keep nobody waiting with hellos that never end", async () => {
    const { port } = await serve(hello);
    const record = Buffer.from([0x16, 0x03, 0x01, 0x3f, 0xff, 0x01, 0x00, 0x3f, 0xfb]);
    for (let count = 0; count < 50; count++) {
      const socket = await open(port);
      socket.write(record.subarray(0, count % record.length));
    }
    expect(await ask(port)).toMatchObject({ status: 200 });
  });

  it.each([
    ["plain HTTP", "GET / HTTP/1.1\r\nHost: app.example.com\r\n\r\n"],
    ["nothing that is TLS", "\u0000\u0001\u0002".repeat(1000)],
    ["an alert", "\u0015\u0003\u0001\u0000\u0002\u0002\u0028"],
  ])("are cut when they send %s", async (_, text) => {
    const { port } = await serve(hello);
    const socket = await open(port);
    const ended = closed(socket);
    socket.resume().write(Buffer.from(text, "latin1"));
    await ended;
    expect(await ask(port)).toMatchObject({ status: 200 });
  });

  it("cannot ask for another handshake", async () => {
    const { port } = await serve(hello);
    const socket: TLSSocket = tlsConnect({ host: "127.0.0.1", port, ca, servername: APP, maxVersion: "TLSv1.2" });
    cleanups.push(() => socket.destroy());
    await once(socket, "secureConnect");
    const outcome = await new Promise((resolve) => {
      socket.once("close", () => resolve("refused"));
      socket.on("error", () => resolve("refused"));
      socket.renegotiate({}, (error) => resolve(error === null ? "done" : "refused"));
      socket.resume();
    });
    expect(outcome).toBe("refused");
  });

  async function open(port: number): Promise<Socket> {
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("error", () => {});
    cleanups.push(() => socket.destroy());
    await once(socket, "connect");
    return socket;
  }
});
