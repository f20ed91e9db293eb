import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { AUTHORITY, openAuthority } from "../../src/provider/certificates/index.ts";
import { RoutesFile } from "../../src/provider/ingress/index.ts";
import { DEFAULT_HTTP_OPTIONS, type HttpOptions } from "../../src/sdl/index.ts";
import { silentLogger } from "../../src/util/index.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { HOSTS, IngressBed, ingressCases, SIZES, type TestedIngress } from "../support/ingress/suite.ts";
import { startTraefik, type TestTraefik } from "../support/ingress/traefik.ts";
import { buildPeer, Peer } from "./peers.ts";

/** A Traefik that follows published routes passes on what the built-in ingress does (`src/provider/ingress/whole.test.ts`). */

const peer = await buildPeer("traefik");
const missing = peer instanceof Peer ? undefined : peer.missing;
const LEASE = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };

const fixture = new Fixture();
const backends = new Map<string, readonly string[]>();
const path = join(fixture.folder, "ingress", "routes.yaml");
let routes: RoutesFile;
let traefik: TestTraefik;
let tested: TestedIngress;
let marks = 0;

beforeAll(async () => {
  if (!(peer instanceof Peer)) return;
  const folder = join(fixture.folder, "certificates");
  mkdirSync(folder);
  const authority = await openAuthority(folder);
  for (const host of Object.values(HOSTS)) {
    const { chain, key } = await authority.issue(host, new AbortController().signal);
    writeFileSync(join(folder, `${host}.pem`), chain + key, { mode: 0o600 });
  }
  routes = new RoutesFile({
    path,
    backends: (_id, service) => backends.get(service) ?? [],
    folders: [folder],
    log: silentLogger,
  });
  routes.look();
  await routes.listen();
  traefik = await startTraefik(peer, path);
  const ca = readFileSync(join(folder, AUTHORITY.certificate), "utf8");
  tested = { port: traefik.port, tlsPort: traefik.tlsPort, pid: traefik.pid, ca, route };
});
afterAll(async () => {
  await traefik?.close();
  await routes?.close();
  if (peer instanceof Peer) peer.remove();
  await fixture.close();
});

/** A further name comes last: once it answers, Traefik knows the others. */
async function route(host: string, replicas: readonly string[], options: Partial<HttpOptions> = {}): Promise<void> {
  const mark = `mark-${++marks}.example.com`;
  backends.set(host, replicas);
  for (const name of [host, mark]) {
    const target = { lease: LEASE, service: name, port: 80, options: { ...DEFAULT_HTTP_OPTIONS, ...options } };
    routes.routes.set(name, target);
  }
  routes.changed();
  await waitFor(async () => (await statusOf(mark)) === 503, "the routes");
}

function statusOf(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = get({ host: "127.0.0.1", port: traefik.port, headers: { host }, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on("error", reject);
  });
}

test.skipIf(missing !== undefined && process.env.CI !== "true")("Traefik is there", () => {
  expect(missing).toBeUndefined();
});

describe.skipIf(missing !== undefined)("routes that Traefik follows", () => {
  it.each(ingressCases.filter(({ isOfOursOnly }) => isOfOursOnly !== true))("$name", async ({ run }) => {
    const bed = new IngressBed(tested, SIZES);
    await run(bed).finally(() => bed.close());
  });

  it("are in a file that the provider alone reads, and end with the last of them", async () => {
    await route(HOSTS.app, []);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await statusOf(HOSTS.app)).toBe(503);
    for (const host of routes.routes.hosts()) routes.routes.remove(host);
    routes.changed();
    await waitFor(async () => (await statusOf(HOSTS.app)) === 404, "the route to be gone");
  });
});
