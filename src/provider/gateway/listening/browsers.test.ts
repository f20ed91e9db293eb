import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { connect as http2Connect } from "node:http2";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { connect as netConnect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import { signToken } from "../../../crypto/index.ts";
import { readFileText } from "../../../util/index.ts";
import { AUTHORITY, openAuthority } from "../../certificates/index.ts";
import { GATEWAY_SOCKET, gatewayHost, Ingress } from "../../ingress/index.ts";
import { PROTOCOL_PREFIX, STREAM_PROTOCOL } from "../access/bearer.ts";
import type { GatewayLimits } from "../limits.ts";

const HOST = gatewayHost("apps.example.com");
const TENANT = "web.apps.example.com";
const STATUS = "/lease/1/1/1/status";

let folder: string;
let ca: string;
let gateway: GatewayHarness;
let ingress: Ingress;
let plainPort: number;

/** The gateway behind an ingress with one certificate for all names of its domain. */
async function open(limits: Partial<GatewayLimits> = {}): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), "svc-browsers-"));
  const certificates = join(folder, "certificates");
  mkdirSync(certificates);
  const { chain, key } = await (await openAuthority(folder)).issue("*.apps.example.com", AbortSignal.timeout(60_000));
  writeFileSync(join(certificates, "all.pem"), chain + key, { mode: 0o600 });
  ca = readFileText(join(folder, AUTHORITY.certificate), { maxBytes: 10_000 });
  gateway = await GatewayHarness.open(limits, { browsers: folder });
  ingress = new Ingress({
    backends: () => [],
    host: "127.0.0.1",
    port: 0,
    tls: { host: "127.0.0.1", port: 0, folders: [certificates], redirect: false },
    gateway: { host: HOST, folder },
  });
  plainPort = await ingress.listen();
}
beforeEach(() => open());
afterEach(close);

async function close(): Promise<void> {
  await ingress.close();
  await gateway.close();
  rmSync(folder, { recursive: true });
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function ask(path: string, { headers, ...options }: RequestOptions & { readonly body?: string } = {}): Promise<Answer> {
  const place = { host: "127.0.0.1", port: ingress.tlsPort, servername: HOST, ca, agent: false };
  const request = httpsRequest({ ...place, path, headers: { host: HOST, ...headers }, ...options });
  return new Promise((resolve, reject) => {
    request.on("error", reject).once("response", async (response) => {
      let text = "";
      for await (const piece of response) text += String(piece);
      resolve({ status: response.statusCode ?? 0, text });
    });
    request.end(options.body);
  });
}

function token(): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const { tenant } = gateway;
  const times = { iat, nbf: iat, exp: iat + 900 };
  const claims = { version: "v1", iss: tenant.address, aud: PROVIDER, jti: randomUUID(), ...times } as const;
  return signToken({ ...claims, leases: { access: "full" } }, (bytes) => tenant.sign(bytes));
}

describe("under its name for browsers the gateway", () => {
  it("answers public routes and tokens, with the certificate of the ingress", async () => {
    await gateway.run(1n);
    expect(await ask("/address")).toEqual({ status: 200, text: `{"address":"${PROVIDER}"}` });
    expect((await ask(STATUS)).status).toBe(401);
    expect((await ask(STATUS, { headers: { authorization: `Bearer ${await token()}` } })).status).toBe(200);
    const body = "[";
    const headers = { "content-length": body.length };
    expect((await ask("/screen", { method: "POST", headers, body })).status).toBe(422);
  });

  it("opens a websocket that no request went before", async () => {
    await gateway.run(1n, { job: "echo hello; sleep 1000" });
    const protocols = [STREAM_PROTOCOL, PROTOCOL_PREFIX + (await token())];
    const url = `wss://${HOST}/lease/1/1/1/logs?follow=true&tail=5`;
    const place = { host: "127.0.0.1", port: ingress.tlsPort, servername: HOST, ca };
    const socket = new WebSocket(url, protocols, {
      createConnection: () => connect(place),
      origin: "https://console.example",
    });
    const [message] = await once(socket, "message");
    expect(String(message)).toContain("hello");
    expect(socket.protocol).toBe(STREAM_PROTOCOL);
    const ended = once(socket, "close");
    await gateway.gateway.close();
    await ended;
  });

  it("takes no client certificate", async () => {
    await gateway.run(1n);
    const { certificate: cert, privateKey: key } = gateway.certificate;
    expect((await gateway.request(STATUS, { cert, key })).status).toBe(200);
    expect((await ask(STATUS, { cert, key })).status).toBe(401);
  });

  it("speaks HTTP/1.1 only, and tenants' names stay apart from it", async () => {
    ingress.routes.set(TENANT, { lease: gateway.lease(1n), service: "web", port: 80, options: OPTIONS });
    const hello = { host: "127.0.0.1", port: ingress.tlsPort, ca, ALPNProtocols: ["h2", "http/1.1"] };
    const spoken = async (servername: string) => {
      const socket: TLSSocket = connect({ ...hello, servername });
      await once(socket, "secureConnect");
      socket.destroy();
      return socket.alpnProtocol;
    };
    expect([await spoken(HOST), await spoken(TENANT)]).toEqual(["http/1.1", "h2"]);
    const session = http2Connect(`https://${TENANT}`, {
      createConnection: () => connect({ ...hello, servername: TENANT, ALPNProtocols: ["h2"] }),
    });
    const status = async (authority: string) => {
      const [headers] = await once(session.request({ ":path": "/address", ":authority": authority }), "response");
      return headers[":status"];
    };
    expect([await status(HOST), await status(TENANT)]).toEqual([421, 503]);
    session.destroy();
    expect((await ask("/address", { servername: TENANT })).status).toBe(421);
  });

  it("is not there without TLS", async () => {
    const request = plainRequest({ host: "127.0.0.1", port: plainPort, path: "/address", headers: { host: HOST } });
    const [response] = await once(request.end(), "response");
    expect(response.resume().statusCode).toBe(404);
  });

  it("is away while the provider is, and there again with it", async () => {
    await gateway.gateway.close();
    await expect(ask("/address")).rejects.toThrow(/socket hang up|ECONNRESET/);
    gateway = await GatewayHarness.open({}, { browsers: folder });
    expect((await ask("/address")).status).toBe(200);
  });
});

describe("the socket for the ingress", () => {
  it("is its owner's alone", () => {
    expect(statSync(join(folder, GATEWAY_SOCKET)).mode & 0o777).toBe(0o600);
  });

  it("takes no connection that names no client", async () => {
    const socket = netConnect(join(folder, GATEWAY_SOCKET));
    socket.write("GET /address HTTP/1.1\r\nhost: x\r\n\r\n");
    let heard = "";
    socket.on("data", (data) => {
      heard += String(data);
    });
    await once(socket, "close");
    expect(heard).toBe("");
  });

  it("counts clients by the address that the ingress names", async () => {
    await close();
    await open({ connectionsPerAddress: 1 });
    const path = join(folder, GATEWAY_SOCKET);
    const answer = async (client: string, ...pieces: readonly string[]) => {
      const socket = netConnect(path);
      socket.on("error", () => {});
      opened.push(socket);
      for (const piece of [`PROXY TCP4 ${client} 127.0.0.1 4660 443\r\n`, ...pieces]) socket.write(piece);
      const heard = once(socket, "data").then(([data]) => String(data).split("\r\n")[0]);
      return Promise.race([heard.catch(() => "closed"), once(socket, "close").then(() => "closed")]);
    };
    const opened: ReturnType<typeof netConnect>[] = [];
    const request = "GET /address HTTP/1.1\r\nhost: x\r\n\r\n";
    expect(await answer("203.0.113.7", request)).toBe("HTTP/1.1 200 OK");
    expect(await answer("203.0.113.8", request.slice(0, 9), request.slice(9))).toBe("HTTP/1.1 200 OK");
    expect(await answer("203.0.113.7", request)).toBe("closed");
    for (const socket of opened) socket.destroy();
  });

  it("ends a connection that sends hundreds of requests at once", async () => {
    const socket = netConnect(join(folder, GATEWAY_SOCKET));
    socket.on("error", () => {});
    socket.write(
      `PROXY TCP4 203.0.113.7 127.0.0.1 4660 443\r\n${"GET /address HTTP/1.1\r\nhost: x\r\n\r\n".repeat(500)}`,
    );
    socket.resume();
    await once(socket, "close");
    expect(socket.destroyed).toBe(true);
  });
});

const OPTIONS = { maxBodySize: 100_000, readTimeout: 5_000, sendTimeout: 5_000, nextTries: 3, nextTimeout: 0 };
