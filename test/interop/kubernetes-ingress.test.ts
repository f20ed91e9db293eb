import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUTHORITY, openAuthority } from "../../src/provider/certificates/index.ts";
import {
  type ClusterDriver,
  type ClusterIngress,
  type LeaseSpec,
  leaseNamespace,
} from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import { KIND, LINGER_MS } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import type { HttpOptions } from "../../src/sdl/index.ts";
import type { DeployResult } from "../../src/tenant/result.ts";
import { testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { collect, sampleExpose, sampleSpec, stream, untilOk } from "../support/conformance/index.ts";
import { Fixture, mustSend, pause, startNode, svcOk, transfer, waitFor, webFile } from "../support/index.ts";
import { CLOSED_GATEWAY, GATEWAY, INGRESS_CLASS, startController } from "../support/kubernetes-controller.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { SHOP_PORT, shopService } from "../support/kubernetes-shop.ts";
import { startProvider } from "../support/provider.ts";
import { Visitor } from "../support/visitor.ts";
import { nodePrograms } from "./node-programs.ts";
import { buildPeer, Peer } from "./peers.ts";

/** How a controller of the ecosystem treats the objects for host names: Ingress objects, and routes of the Gateway API. */

const programs = await nodePrograms();
const peers = await Promise.all([buildPeer("traefik"), buildPeer("gateway-api")]);
for (const peer of peers) if (peer instanceof Peer) peer.remove();
const lacking = peers.flatMap((peer) => (peer instanceof Peer ? [] : [peer.missing]));
const missing = "missing" in programs ? programs.missing : lacking.length > 0 ? lacking.join("; ") : undefined;
const fixture = new Fixture();

const WAYS = {
  ingress: { ingressClass: INGRESS_CLASS },
  gateway: { gateway: GATEWAY },
  closed: { gateway: CLOSED_GATEWAY },
} as const;
type Way = keyof typeof WAYS;

/** The gap of a visitor: three visitors still ask every few milliseconds. */
const BETWEEN_VISITS_MS = 50;

let bed: TestKubernetesNode;
let api: KubernetesApi;
/** The certificate of the operator's authority. */
let authority: string;
let visitor: Visitor;
const drivers = new Map<Way, ClusterDriver>();

beforeAll(async () => {
  const [controller, definitions] = peers.map((peer) => (peer instanceof Peer ? peer.binary : undefined));
  if ("missing" in programs || controller === undefined || definitions === undefined) return;
  bed = await TestKubernetesNode.start(fixture, programs);
  api = new KubernetesApi(readKubeconfig(bed.config));
  await installOn(api, "svc-provider");
  authority = await startController(fixture, bed, { controller, definitions });
  visitor = new Visitor(bed.address, authority);
  const account = await bed.control.configOf("svc-provider", "svc-provider");
  for (const way of ["ingress", "gateway", "closed"] as const) drivers.set(way, await openDriver(way, account));
});

afterAll(async () => {
  for (const driver of drivers.values()) {
    await driver.purge();
    await driver.close();
  }
  api?.close();
  await fixture.close();
});

function openDriver(way: Way, config: string): Promise<ClusterDriver> {
  const common = { allowLocalImages: true, podSecurity: "baseline", stopGraceMs: 1_000, lingerMs: LINGER_MS } as const;
  return openKubernetesDriver({
    api: new KubernetesApi(readKubeconfig(config)),
    objects: { ...SETTINGS, ...common, ...WAYS[way], provider: `svc1${way}` },
    stateDir: fixture.tempHome(way),
    nodePorts: { first: 30_000, last: 30_099 },
    ingress: { scheme: "http", port: undefined },
  });
}

function driverOf(way: Way): ClusterDriver {
  const driver = drivers.get(way);
  if (driver === undefined) throw new Error("the driver is not open");
  return driver;
}

async function deploy(way: Way, page: string): Promise<LeaseSpec> {
  const spec = sampleSpec([shopService(TestKubernetesNode.image, page)]);
  await driverOf(way).deploy(spec);
  await untilOk(driverOf(way), spec.id);
  return spec;
}

interface ApiIngress extends ApiObject {
  readonly spec?: { readonly tls?: readonly { readonly secretName?: string }[] };
}

interface Lead extends Partial<HttpOptions> {
  readonly port?: number;
}

function ingressOf(way: Way): ClusterIngress {
  const { routing } = driverOf(way);
  if (routing.ingress !== "cluster") throw new Error("the ingress is not the cluster's");
  return routing;
}

let marks = 0;

/**
 * Lets host names lead to ports of a lease, in place of all others that did. A further name comes last: once it answers, the
 * controller knows the others.
 */
async function lead(way: Way, { id }: LeaseSpec, leads: Readonly<Record<string, Lead>>): Promise<void> {
  const mark = `mark-${++marks}.example.com`;
  const routes = Object.entries({ ...leads, [mark]: {} as Lead }).map(
    ([host, { port = SHOP_PORT.pages, ...options }]) => ({
      target: { lease: id, service: "web", port, options: { ...sampleExpose().httpOptions, ...options } },
      hosts: [host],
    }),
  );
  await ingressOf(way).route(id, routes);
  await waitFor(async () => (await statusOf(mark)) === "200", "the routes");
}

/** Everything that visitors of a host name see, from now until the function that is returned is called. */
function seenAt(host: string): () => Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  let isOver = false;
  const visit = async (): Promise<void> => {
    while (!isOver) {
      seen.add(await visitor.page(host).catch(String));
      await pause(BETWEEN_VISITS_MS);
    }
  };
  const visits = [visit(), visit(), visit()];
  return async () => {
    isOver = true;
    await Promise.all(visits);
    return seen;
  };
}

function untilPage(host: string, page: string): Promise<unknown> {
  return waitFor(async () => (await visitor.page(host)) === page, `${page} at ${host}`);
}

/** Status of the answer to a page. */
async function statusOf(...visit: Parameters<Visitor["page"]>): Promise<string> {
  return (await visitor.page(...visit)).slice(0, 3);
}

/** How often a service was asked for one page of a visitor. */
async function callsFor(host: string, path: string): Promise<number> {
  await visitor.page(host, { path });
  const [, calls] = (await visitor.page(host, { path: "/cgi-bin/calls" })).split(" ");
  return Number(calls);
}

test.skipIf(missing !== undefined && process.env.CI !== "true")("the controller and its cluster are there", () => {
  expect(missing).toBeUndefined();
});

describe.skipIf(missing !== undefined).each(["ingress", "gateway"] as const)("by %s", (way) => {
  const host = `${way}.secure.example.com`;
  const socket = `${way}-socket.secure.example.com`;
  const stuck = `${way}-stuck.secure.example.com`;
  let spec: LeaseSpec;

  test("a host name leads to its service: over HTTP, over TLS, over HTTP/2, and no other does", async () => {
    spec = await deploy(way, "first");
    await lead(way, spec, { [host]: {}, [socket]: { port: SHOP_PORT.socket } });
    expect(await visitor.page(host)).toBe("200 first");
    expect(await visitor.securePage(host)).toBe("200 first");
    expect(await visitor.page2(host)).toBe("200 first");
    expect(await statusOf(`other.${host}`)).toBe("404");
  });

  test("websockets are open both ways", async () => {
    expect(await visitor.socketWords(socket, "x")).toEqual(["hello", "again"]);
  });

  test("the wishes of http_options are kept for ingress objects; a gateway leaves them to policies of its own", async () => {
    const size = 64 << 10;
    const wishes = { maxBodySize: size, readTimeout: 2_000, nextCases: ["error", "503"] };
    const timed = `${way}-timed.example.com`;
    await lead(way, spec, {
      [host]: { ...wishes, nextTries: 3 },
      [timed]: { ...wishes, nextTries: 20, nextTimeout: 3_000 },
      [stuck]: { maxBodySize: 100 << 20, sendTimeout: 1_000, port: SHOP_PORT.stuck },
    });
    const path = "/cgi-bin/size";
    const kept = way === "ingress";
    expect(await visitor.page(host, { path, body: Buffer.alloc(size) })).toBe(`200 ${size}`);
    expect(await statusOf(host, { path, body: Buffer.alloc(size + 1) })).toBe(kept ? "413" : "200");
    expect(await statusOf(host, { path: "/cgi-bin/slow" })).toBe(kept ? "504" : "200");
    expect(await callsFor(host, "/cgi-bin/fails")).toBe(kept ? 3 : 1);
    const calls = await callsFor(timed, "/cgi-bin/tardy");
    expect(calls).toBeGreaterThanOrEqual(kept ? 2 : 1);
    expect(calls).toBeLessThan(kept ? 20 : 2);
    if (kept) expect(await statusOf(stuck, { body: Buffer.alloc(20 << 20) })).toBe("504");
  });

  test("an update loses no request", async () => {
    await lead(way, spec, { [host]: {} });
    const seen = seenAt(host);
    const services = [shopService(TestKubernetesNode.image, "second")];
    const [before] = await podsOf(spec);
    await driverOf(way).deploy({ ...spec, generation: 2, group: { ...spec.group, services } });
    await untilPage(host, "200 second");
    await waitFor(async () => !(await podsOf(spec)).includes(before ?? ""), "the old replica to be gone");
    expect([...(await seen())].sort()).toEqual(["200 first", "200 second"]);
  });

  test("a host name that moves leads to the one lease or the other, and nowhere when its lease ends", async () => {
    const other = await deploy(way, "other");
    const seen = seenAt(host);
    await lead(way, other, { [host]: {} });
    await lead(way, spec, { [stuck]: {} });
    await untilPage(host, "200 other");
    await untilPage(stuck, "200 second");
    expect([...(await seen())].sort()).toEqual(["200 other", "200 second"]);
    await ingressOf(way).unroute(other.id);
    await waitFor(async () => (await statusOf(host)) === "404", "the route to be gone");
    expect(await visitor.page(stuck)).toBe("200 second");
  });
});

test.skipIf(missing !== undefined)("a host name that the gateway refuses is reported to its tenant", async () => {
  expect(await driverOf("gateway").obstacle()).toBeUndefined();
  const spec = await deploy("closed", "closed");
  const target = { lease: spec.id, service: "web", port: SHOP_PORT.pages, options: sampleExpose().httpOptions };
  await ingressOf("closed").route(spec.id, [{ target, hosts: ["closed.example.com"] }]);
  const told = async () => (await collect(driverOf("closed").events(spec.id, stream()))).map(({ note }) => note);
  await waitFor(async () => (await told()).some((note) => /does not answer: .*NotAllowedByListeners/.test(note)), "it");
  // The operator is told before there is a tenant.
  expect((await driverOf("closed").obstacle())?.text).toContain("allowedRoutes");
});

test.skipIf(missing !== undefined)(
  "a tenant's file answers through the cluster's ingress until it is closed, by the commands of operator and tenant",
  async () => {
    const faucet = testKey("faucet");
    const accounts = [{ address: faucet.address, coins: [{ denom: NATIVE_DENOM, amount: 10n ** 15n }] }];
    const chain = await startNode(fixture, { blockIntervalMs: 1_000, accounts });
    const flags = [
      ...["--cluster-orch", "--clusterconfig", await bed.control.configOf("svc-provider", "svc-provider")],
      ...["--cluster-pod-security", "baseline", "--cluster-ingress-class", INGRESS_CLASS],
      ...["--cluster-ingress-issuer", "test"],
      ...["--deployment-ingress-domain", "secure.example.com", "--cluster-node-port-range", "30100-30199"],
    ];
    const provider = await startProvider(fixture, { name: "provider", node: chain, faucet, flags });
    const keyring = ["--home", fixture.tempHome("tenant"), "--keyring-backend", "test"];
    await svcOk(["keys", "add", "tenant", ...keyring]);
    const address = (await svcOk(["keys", "show", "tenant", "-a", ...keyring])).trim();
    const client = chain.client();
    await mustSend(client, faucet, transfer(faucet.address, address, 10n ** 9n)).finally(() => client.close());
    const tenant = [...keyring, "--node", chain.address, "--chain-id", chain.chainId];
    const path = join(fixture.folder, "app.yaml");
    writeFileSync(
      path,
      webFile({ page: "from a file" }).replace("localhost/svc-sample:latest", TestKubernetesNode.image),
    );
    const deployed: DeployResult = JSON.parse(
      await svcOk(["deploy", path, "-y", "-o", "json", ...tenant], { env: visitorsEnv("secure.example.com") }),
    );
    expect(deployed.leases.map((lease) => lease.provider)).toEqual([provider.address]);
    const { hostname, protocol } = new URL(deployed.uris[0] ?? "");
    expect(`${protocol} ${hostname}`).toMatch(/^https: [a-z0-9]+\.secure\.example\.com$/);
    expect(await visitor.securePage(hostname)).toBe("200 from a file");
    expect(await statusOf(hostname)).toBe("308");
    await certify(hostname);
    await svcOk(["deploy", "close", "--dseq", deployed.dseq, "-y", ...tenant]);
    await waitFor(async () => (await statusOf(hostname)) === "404", "the route to be gone");
  },
);

/** Does what an issuer of certificates in the cluster does: puts another one for the host where its Ingress says. */
async function certify(host: string): Promise<void> {
  const { objects } = await api.list<ApiIngress>(KIND.ingress);
  const found = objects.find(({ metadata }) => metadata.name === host);
  const [{ secretName = "" } = {}] = found?.spec?.tls ?? [];
  expect(found?.metadata.annotations).toMatchObject({ "cert-manager.io/cluster-issuer": "test" });
  const folder = fixture.tempHome("issuer");
  const { chain, key } = await (await openAuthority(folder)).issue(host, new AbortController().signal);
  const metadata = { namespace: found?.metadata.namespace ?? "", name: secretName };
  const secret = { metadata, type: "kubernetes.io/tls", stringData: { "tls.crt": chain, "tls.key": key } };
  await api.apply(KIND.secret, secret);
  const client = new Visitor(bed.address, readFileSync(join(folder, AUTHORITY.certificate), "utf8"));
  await waitFor(() => client.securePage(host), "the certificate of its own");
}

/** Variables of a program that finds all names below a domain at the cluster, as if a name server said so, and trusts its authority. */
function visitorsEnv(domain: string): Readonly<Record<string, string>> {
  const { address } = bed;
  const path = join(fixture.folder, "names.cjs");
  const script = `const dns = require("node:dns");
const { lookup } = dns;
dns.lookup = (host, ...more) => lookup(host.endsWith(".${domain}") ? "${address}" : host, ...more);
`;
  writeFileSync(path, script);
  const trusted = join(fixture.folder, "trusted.crt");
  writeFileSync(trusted, authority);
  return { NODE_OPTIONS: `--require=${path}`, NODE_EXTRA_CA_CERTS: trusted };
}

/** Identities of the pods of a lease, ending pods included. */
async function podsOf({ id }: LeaseSpec): Promise<string[]> {
  const { objects } = await api.list(KIND.pod, { namespace: leaseNamespace(id) });
  return objects.map(({ metadata }) => metadata.uid ?? "");
}
