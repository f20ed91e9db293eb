import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { get } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { acmeIssuer } from "../../src/provider/certificates/acme.ts";
import { CertificateKeeper } from "../../src/provider/certificates/index.ts";
import { Ingress } from "../../src/provider/ingress/index.ts";
import { silentLogger, systemClock } from "../../src/util/index.ts";
import { freePorts, waitFor } from "../support/index.ts";
import { type AcmeServer, acmeAuthority, startAcmeServer } from "./acme-server.ts";
import { buildPeer, Peer } from "./peers.ts";

/** An ACME server validates host names of the ingress over HTTP, as the DNS resolves them, and issues certificates for them. */

const HOST = "shop.example.com";
const BLOCKED = "blocked.example.com";
const built = await buildPeer("pebble");
const peer = built instanceof Peer ? built : undefined;
const folder = mkdtempSync(join(tmpdir(), "svc-acme-"));
const kept = join(folder, "kept");
const cleanups: (() => unknown)[] = [];
let server: AcmeServer | undefined;
let ingress: Ingress;

test.skipIf(peer === undefined && process.env.CI !== "true")("the ACME server is there", () => {
  expect(built).toBeInstanceOf(Peer);
});

beforeAll(async () => {
  if (peer === undefined) return;
  ingress = await startIngress();
  await acmeAuthority(folder);
  const [port = 0] = await freePorts(1);
  server = await startAcmeServer({ peer, folder, httpPort: await ingress.listen(), port, blocked: [BLOCKED] });
});

afterAll(async () => {
  server?.close();
  for (const cleanup of cleanups.reverse()) await cleanup();
  peer?.remove();
  rmSync(folder, { recursive: true });
});

/** An ingress in front of one page, with a redirect to TLS. */
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

function issuer(email: string | undefined = "operator@example.com", place = "account") {
  const { challenges } = ingress;
  const contact = email === "" ? {} : { email };
  return acmeIssuer({
    settings: { directory: server?.directory ?? "", ...contact },
    folder: join(folder, place),
    challenges,
  });
}

test.skipIf(peer === undefined)("a host name gets a certificate, which the ingress presents", async () => {
  const keeper = new CertificateKeeper({
    ...{ folder: kept, issuer: issuer(), isCovered: () => false },
    ...{ clock: systemClock, random: Math.random, log: silentLogger },
  });
  cleanups.push(() => keeper.close());
  await keeper.want({ lease: "lease", owner: "tenant" }, [HOST]);
  const path = join(kept, `${HOST}.pem`);
  await waitFor(async () => statSync(path, { throwIfNoEntry: false }) !== undefined, "the certificate");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  ingress.look();
  const ca = await server?.roots();
  const options = {
    host: "127.0.0.1",
    port: ingress.tlsPort,
    servername: HOST,
    headers: { host: HOST },
    ...(ca === undefined ? {} : { ca }),
  };
  const [answer] = (await once(get({ ...options, agent: false }), "response")) as [IncomingMessage];
  expect(answer.resume().statusCode).toBe(200);
});

test.skipIf(peer === undefined)("the account stays the same from start to start", async () => {
  await issuer().issue("other.example.com", AbortSignal.timeout(60_000));
  const account = join(folder, "account");
  expect(readdirSync(account)).toHaveLength(1);
  expect(statSync(join(account, readdirSync(account)[0] ?? "")).mode & 0o777).toBe(0o600);
});

test.skipIf(peer === undefined)("a provider without an e-mail address starts again, and adds one later", async () => {
  for (const email of ["", "", "operator@example.com", "other@example.com"]) {
    const { chain } = await issuer(email, "silent").issue("third.example.com", AbortSignal.timeout(60_000));
    expect(chain).toContain("BEGIN CERTIFICATE");
  }
  expect(readdirSync(join(folder, "silent"))).toHaveLength(1);
});

test.skipIf(peer === undefined)("a host name that the server refuses gets none, and the reason is shown", async () => {
  await expect(issuer().issue(BLOCKED, AbortSignal.timeout(60_000))).rejects.toThrow(/blocked/i);
});
