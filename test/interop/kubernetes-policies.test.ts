import { once } from "node:events";
import { createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClusterDriver, type LeaseSpec, leaseNamespace } from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import { CONTAINER, KIND } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import { sampleExpose, sampleService, sampleSpec, untilOk } from "../support/conformance/index.ts";
import { Elsewhere } from "../support/elsewhere.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { startNames } from "../support/kubernetes-names.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { nodePrograms } from "./node-programs.ts";
import { buildPeer, Peer } from "./peers.ts";

/** Reachability on a cluster that enforces network policies, tested from inside real pods. */

const programs = await nodePrograms();
const enforcer = await buildPeer("kube-router");
if (enforcer instanceof Peer) enforcer.remove();
const missing = "missing" in programs ? programs.missing : enforcer instanceof Peer ? undefined : enforcer.missing;
const fixture = new Fixture();

const PUBLIC = "203.0.113.7";
/** Clouds serve secrets to their machines at some of these; the others are operators' own networks. */
const CLOSED = [
  "169.254.169.254",
  "168.63.129.16",
  "100.64.9.9",
  "172.16.9.9",
  "192.168.9.9",
  "10.99.9.9",
  "192.0.0.9",
  "198.18.9.9",
];

let bed: TestKubernetesNode;
let api: KubernetesApi;
let driver: ClusterDriver;
let elsewhere: Elsewhere;
let machinePort: number;
/** Two tenants: one with services, and another that tries to reach them. */
let shop: LeaseSpec;
let stranger: LeaseSpec;

interface Pod extends ApiObject {
  readonly status?: { readonly podIP?: string; readonly phase?: string };
}

interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly address: string;
}

beforeAll(async () => {
  if ("missing" in programs || !(enforcer instanceof Peer)) return;
  bed = await TestKubernetesNode.start(fixture, { ...programs, policies: enforcer.binary });
  api = new KubernetesApi(readKubeconfig(bed.config));
  await installOn(api, "svc-provider");
  driver = await openKubernetesDriver({
    api: new KubernetesApi(readKubeconfig(await bed.control.configOf("svc-provider", "svc-provider"))),
    objects: { ...SETTINGS, allowLocalImages: true, podSecurity: "baseline", stopGraceMs: 1_000 },
    stateDir: fixture.tempHome("driver"),
    nodePorts: { first: 30_000, last: 30_099 },
  });
  elsewhere = await Elsewhere.open(fixture, bed, [PUBLIC, ...CLOSED]);
  machinePort = await listenOnMachine();
  await startNames(fixture, bed);
});

afterAll(async () => {
  await driver?.purge();
  await driver?.close();
  api?.close();
  await fixture.close();
});

/** A server of this machine itself, where the cluster's node sees it. */
async function listenOnMachine(): Promise<number> {
  const server = createServer((socket) => socket.end("reached\n"));
  fixture.defer(() => server.close());
  await once(server.listen(0, bed.room.outside), "listening");
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

/** Serves a page at each of the ports. */
function serving(...ports: readonly number[]): string {
  return [...ports.map((port) => `httpd -p ${port} -h /www`), "trap exit TERM", "while :; do sleep 1; done"].join("\n");
}

function service(name: string, script: string, expose: Parameters<typeof sampleExpose>[0][]) {
  return sampleService(TestKubernetesNode.image, {
    name,
    command: ["sh", "-c"],
    args: [script],
    expose: expose.map((each) => sampleExpose(each)),
  });
}

/** A pod that is no tenant's. */
async function makePod(namespace: string, name: string, labels: Readonly<Record<string, string>>, script: string) {
  const image = TestKubernetesNode.image;
  const container = { name: CONTAINER, image, imagePullPolicy: "Never", command: ["sh", "-c", script] };
  const object = { metadata: { name, labels }, spec: { containers: [container], terminationGracePeriodSeconds: 0 } };
  const made = await bed.control.call("POST", `/api/v1/namespaces/${namespace}/pods`, {
    type: "application/json",
    object,
  });
  expect(made.status, made.text).toBe(201);
}

async function makeSpace(name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  const object = { metadata: { name, labels } };
  const made = await bed.control.call("POST", "/api/v1/namespaces", { type: "application/json", object });
  expect(made.status, made.text).toBe(201);
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await waitFor(async () => (await bed.control.call("GET", account)).status === 200, "the namespace to be ready");
}

/** Where the one running pod of that description is. */
async function placeOf(namespace: string, labels: string): Promise<Place> {
  return waitFor(async () => {
    const { objects } = await api.list<Pod>(KIND.pod, { namespace, labels });
    const [pod] = objects.filter(({ status }) => status?.phase === "Running" && status.podIP !== undefined);
    return pod && { namespace, name: pod.metadata.name, address: pod.status?.podIP ?? "" };
  }, `a pod with ${labels}`) as Promise<Place>;
}

const podOf = (spec: LeaseSpec, name: string): Promise<Place> =>
  placeOf(leaseNamespace(spec.id), `svc.service=${name}`);

/** Output of a command inside a pod. */
async function said({ namespace, name }: Place, script: string): Promise<string> {
  const command = ["sh", "-c", script];
  const { output, exitCode } = await api.exec({
    namespace,
    pod: name,
    container: CONTAINER,
    command,
    tty: false,
    stdin: false,
  });
  let text = "";
  for await (const { data } of output) text += Buffer.from(data).toString();
  await exitCode.catch(() => undefined);
  return text.trim();
}

type Targets = Readonly<Record<string, readonly [host: string, port: number]>>;

/** The names of the targets that a pod can connect to. All are tried at once. */
async function reachedFrom(place: Place, targets: Targets): Promise<string[]> {
  const tries = Object.entries(targets).map(
    ([name, [host, port]]) => `(nc -w 4 ${host} ${port} < /dev/null > /dev/null 2>&1 && echo "${name}") &`,
  );
  return (await said(place, `${tries.join("\n")}\nwait`)).split("\n").filter(Boolean).sort();
}

test.skipIf(missing !== undefined && process.env.CI !== "true")(
  "the programs of a node that enforces policies are there",
  () => {
    expect(missing).toBeUndefined();
  },
);

test.skipIf(missing !== undefined)("two tenants, an ingress and name servers run", async () => {
  await makeSpace("ingress", { "svc.ingress": "true" });
  await makeSpace("free", {});
  const rest = serving(80);
  await makePod("ingress", "controller", { app: "controller" }, rest);
  await makePod("free", "free", { app: "free" }, rest);
  await makePod("kube-system", "names", { "k8s-app": "kube-dns" }, serving(53, 80));
  await makePod("kube-system", "other", { "k8s-app": "other" }, serving(53));
  const web = service("web", serving(80, 81, 82), [{}, { port: 82, externalPort: 9000 }]);
  const db = service("db", serving(5432), [{ port: 5432, externalPort: 5432, global: false, service: "web" }]);
  const draft = sampleSpec([web, db]);
  shop = { ...draft, ports: await driver.ports.assign(draft.id, draft.group) };
  stranger = sampleSpec([service("web", serving(80), [{}])]);
  for (const spec of [shop, stranger]) await driver.deploy(spec);
  for (const spec of [shop, stranger]) await untilOk(driver, spec.id);
});

/** All targets of the test. */
async function targets(): Promise<Targets> {
  const [web, db, names, other] = await Promise.all([
    podOf(shop, "web"),
    podOf(shop, "db"),
    placeOf("kube-system", "k8s-app=kube-dns"),
    placeOf("kube-system", "k8s-app=other"),
  ]);
  const { hostname, port } = readKubeconfig(bed.config).server;
  const serviceOf = await bed.control.call("GET", `/api/v1/namespaces/${leaseNamespace(shop.id)}/services/db`);
  const pages = [PUBLIC, ...CLOSED].map((address) => [address, [address, 80]] as const);
  return {
    "shop web 80": [web.address, 80],
    "shop web 81": [web.address, 81],
    "shop web 82": [web.address, 82],
    "shop db": [db.address, 5432],
    "shop db service": [JSON.parse(serviceOf.text).spec.clusterIP, 5432],
    "shop node port": [bed.address, shop.ports[0]?.hostPort ?? 0],
    "API server": [hostname, Number(port)],
    "API service": ["10.96.0.1", 443],
    kubelet: [bed.address, 10_250],
    machine: [bed.room.outside, machinePort],
    router: ["10.215.0.2", 80],
    "name server": [names.address, 53],
    "name server's page": [names.address, 80],
    "other server": [other.address, 53],
    ...Object.fromEntries(pages),
  };
}

/** Targets that a pod without a policy reaches. */
const EVERYBODY = [
  "API server",
  "API service",
  "kubelet",
  "machine",
  "router",
  "name server",
  "name server's page",
  "other server",
  PUBLIC,
  ...CLOSED,
];
const OWN = ["shop web 80", "shop web 81", "shop web 82", "shop db", "shop db service", "shop node port"];
const sorted = (names: readonly string[]): string[] => [...names].sort();

test.skipIf(missing !== undefined)(
  "a tenant reaches itself, name servers and public addresses, and nothing else",
  async () => {
    const all = await targets();
    const [own, other, free] = await Promise.all([
      podOf(shop, "web"),
      podOf(stranger, "web"),
      placeOf("free", "app=free"),
    ]);
    // Rules follow pods within moments; the pod without a policy shows that everything answers.
    await waitFor(
      async () =>
        (await reachedFrom(free, all)).length === EVERYBODY.length + 2 &&
        !(await reachedFrom(other, all)).includes("shop web 80"),
      "the policies to be enforced",
    );
    expect(await reachedFrom(own, all)).toEqual(sorted([...OWN, "name server", PUBLIC]));
    expect(await reachedFrom(other, all)).toEqual(sorted(["name server", PUBLIC]));
    expect(await reachedFrom(free, all)).toEqual(sorted([...EVERYBODY, "shop web 82", "shop node port"]));
  },
);

test.skipIf(missing !== undefined)(
  "a service reaches its sister by name, and no neighbor's by its whole name",
  async () => {
    const [own, other, free] = await Promise.all([
      podOf(shop, "web"),
      podOf(stranger, "web"),
      placeOf("free", "app=free"),
    ]);
    const whole = `db.${leaseNamespace(shop.id)}.svc.cluster.local`;
    const names = { "by name": ["db", 5432], "by its whole name": [whole, 5432] } as const;
    await waitFor(async () => (await reachedFrom(own, names)).length === 2, "the names");
    expect(await reachedFrom(other, names)).toEqual([]);
    // Names are no secret: a pod without a policy finds the address, and other namespaces have no service of this name.
    expect(await said(other, `nslookup ${whole} | grep -c 10.96`)).toBe("1");
    expect(await said(other, "nslookup db > /dev/null 2>&1 && echo found || echo none")).toBe("none");
    expect(await said(free, `nslookup ${whole} | grep -c 10.96`)).toBe("1");
  },
);

test.skipIf(missing !== undefined)(
  "the ingress reaches the ports of host names, and the world those that are open to everybody",
  async () => {
    const all = await targets();
    const ours = Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith("shop")));
    const controller = await placeOf("ingress", "app=controller");
    expect(await reachedFrom(controller, ours)).toEqual(sorted(["shop web 80", "shop web 82", "shop node port"]));
    const outside: string[] = [];
    for (const [name, [host, port]] of Object.entries(ours))
      if (await elsewhere.reaches(host, port)) outside.push(name);
    expect(sorted(outside)).toEqual(sorted(["shop web 82", "shop node port"]));
  },
);

test.skipIf(missing !== undefined)("a port that is closed by an update is closed to everybody", async () => {
  const services = shop.group.services.map((each) =>
    each.name === "web" ? { ...each, expose: [sampleExpose()] } : each,
  );
  const closed = { ...shop, generation: 2, ports: [], group: { ...shop.group, services } };
  await driver.deploy(closed);
  const free = await placeOf("free", "app=free");
  await waitFor(async () => {
    const { "shop web 82": port } = await targets();
    return port !== undefined && (await reachedFrom(free, { port })).length === 0;
  }, "the port to be closed");
});
