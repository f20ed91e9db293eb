import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { get, globalAgent } from "node:https";
import { type AddressInfo, createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { acmeIssuer } from "../../src/provider/certificates/acme.ts";
import { AUTHORITY, CertificateKeeper, openAuthority } from "../../src/provider/certificates/index.ts";
import { Ingress } from "../../src/provider/ingress/index.ts";
import { silentLogger, systemClock } from "../../src/util/index.ts";
import { freePorts, waitFor } from "../support/index.ts";
import { buildPeer, Peer, type PeerProcess } from "./peers.ts";

/** An ACME server looks at host names of the ingress over HTTP, as it finds them in the DNS, and gives certificates for them. */

const HOST = "shop.example.com";
const BLOCKED = "blocked.example.com";
const built = await buildPeer("pebble");
const peer = built instanceof Peer ? built : undefined;
const folder = mkdtempSync(join(tmpdir(), "svc-acme-"));
const kept = join(folder, "kept");
const cleanups: (() => unknown)[] = [];
let server: PeerProcess | undefined;
let ingress: Ingress;
let directory = "";
let roots = "";

test.skipIf(peer === undefined && process.env.CI !== "true")("the ACME server is there", () => {
  expect(built).toBeInstanceOf(Peer);
});

beforeAll(async () => {
  if (peer === undefined) return;
  const [port = 0, management = 0] = await freePorts(2);
  directory = `https://localhost:${port}/dir`;
  roots = `https://localhost:${management}/roots/0`;
  ingress = await startIngress();
  const { chain, key } = await (await openAuthority(folder)).issue("localhost", new AbortController().signal);
  const trusted = globalAgent.options.ca;
  globalAgent.options.ca = readFileSync(join(folder, AUTHORITY.certificate));
  cleanups.push(() => {
    globalAgent.options.ca = trusted;
  });
  writeFileSync(join(folder, "acme.crt"), chain);
  writeFileSync(join(folder, "acme.key"), key);
  const config = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: join(folder, "acme.crt"),
    privateKey: join(folder, "acme.key"),
    httpPort: await ingress.listen(),
    tlsPort: ingress.tlsPort,
    ocspResponderURL: "",
    externalAccountBindingRequired: false,
    domainBlocklist: [BLOCKED],
  };
  writeFileSync(join(folder, "pebble.json"), JSON.stringify({ pebble: config }));
  const names = await nameServer();
  server = peer.start(["-config", join(folder, "pebble.json"), "-dnsserver", `127.0.0.1:${names}`], {
    env: { PEBBLE_VA_NOSLEEP: "1" },
  });
  await waitFor(async () => (await page(directory)).includes("newOrder"), "the ACME server");
});

afterAll(async () => {
  server?.process.kill("SIGKILL");
  for (const cleanup of cleanups.reverse()) await cleanup();
  peer?.remove();
  rmSync(folder, { recursive: true });
});

/** An ingress in front of one page, which redirects to TLS. */
async function startIngress(): Promise<Ingress> {
  const replica = createServer((_request, response) => response.end("page")).listen(0, "127.0.0.1");
  await once(replica, "listening");
  cleanups.push(() => replica.close().closeAllConnections());
  const { port } = replica.address() as AddressInfo;
  const made = new Ingress({
    backends: () => [`127.0.0.1:${port}`],
    host: "127.0.0.1",
    port: 0,
    tls: { host: "127.0.0.1", port: 0, folders: [kept], redirect: true },
  });
  cleanups.push(() => made.close());
  const lease = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
  const options = { maxBodySize: 1_000, readTimeout: 5_000, sendTimeout: 5_000, nextTries: 3, nextTimeout: 0 };
  made.routes.set(HOST, { lease, service: "web", port: 80, options });
  return made;
}

/** A name server over TCP that says of every name that it is this machine (RFC 1035 section 4). */
async function nameServer(): Promise<number> {
  const names = createNetServer((socket) => {
    let rest = Buffer.alloc(0);
    socket
      .on("error", () => {})
      .on("data", (piece) => {
        rest = Buffer.concat([rest, piece]);
        while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
          const length = rest.readUInt16BE(0);
          const answer = answerOf(rest.subarray(2, 2 + length));
          rest = rest.subarray(2 + length);
          socket.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]));
        }
      });
  });
  await once(names.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => void names.close());
  return (names.address() as AddressInfo).port;
}

function answerOf(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const isAddress = query.readUInt16BE(end - 4) === 1;
  const head = Buffer.from([0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([query.subarray(0, 2), head, query.subarray(12, end), ...(isAddress ? [record] : [])]);
}

async function page(url: string): Promise<string> {
  const [answer] = (await once(get(url, { agent: globalAgent, headers: { "user-agent": "test" } }), "response")) as [
    IncomingMessage,
  ];
  let text = "";
  for await (const piece of answer) text += String(piece);
  return text;
}

function issuer() {
  const { challenges } = ingress;
  return acmeIssuer({
    settings: { directory, email: "operator@example.com" },
    folder: join(folder, "account"),
    challenges,
  });
}

test.skipIf(peer === undefined)("a host name gets a certificate, which the ingress presents", async () => {
  const keeper = new CertificateKeeper({
    ...{ folder: kept, issuer: issuer(), isCovered: () => false },
    ...{ clock: systemClock, random: Math.random, log: silentLogger },
  });
  cleanups.push(() => keeper.close());
  await keeper.want("lease", [HOST]);
  const path = join(kept, `${HOST}.pem`);
  await waitFor(async () => statSync(path, { throwIfNoEntry: false }) !== undefined, "the certificate", {
    timeoutMs: 30_000,
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  ingress.look();
  const ca = await page(roots);
  const options = { host: "127.0.0.1", port: ingress.tlsPort, servername: HOST, headers: { host: HOST }, ca };
  const [answer] = (await once(get({ ...options, agent: false }), "response")) as [IncomingMessage];
  expect(answer.resume().statusCode).toBe(200);
});

test.skipIf(peer === undefined)("the account stays the same from start to start", async () => {
  await issuer().issue("other.example.com", AbortSignal.timeout(60_000));
  const account = join(folder, "account");
  expect(readdirSync(account)).toHaveLength(1);
  expect(statSync(join(account, readdirSync(account)[0] ?? "")).mode & 0o777).toBe(0o600);
});

test.skipIf(peer === undefined)("a host name that the server refuses gets none, and the reason is told", async () => {
  await expect(issuer().issue(BLOCKED, AbortSignal.timeout(60_000))).rejects.toThrow(/blocked/i);
});
