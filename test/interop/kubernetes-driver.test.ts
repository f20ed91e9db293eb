import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterDriver } from "../../src/provider/cluster/contract/index.ts";
import { leaseNamespace } from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import { KIND, LEASES_SPACE } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import { sampleExpose, sampleService, sampleSpec } from "../support/conformance/index.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { TestKubernetes } from "../support/kubernetes.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { buildPeer, Peer } from "./peers.ts";

/** The driver against a real API server. There are no controllers: the test makes pods as they would. */

const built = await buildPeer("kubernetes");
const peer = built instanceof Peer ? built : undefined;
const fixture = new Fixture();
const IMAGE = "docker.io/library/web:1";
const OPEN: ClusterDriver[] = [];

let bed: TestKubernetes;
let api: KubernetesApi;
let stateDir: string;

function client(): KubernetesApi {
  return new KubernetesApi(readKubeconfig(bed.config), { pauseMs: 50, maxPauseMs: 200 });
}

/** The driver has the rights of an installation, and no others. */
async function open(): Promise<ClusterDriver> {
  const account = await bed.configOf("svc-provider", "svc-provider");
  const driver = await openKubernetesDriver({
    api: new KubernetesApi(readKubeconfig(account), { pauseMs: 50, maxPauseMs: 200 }),
    objects: SETTINGS,
    stateDir,
    ingress: { scheme: "https", port: undefined },
    timing: { retry: 50, maxRetry: 200, removalPoll: 50, removal: 5_000, report: 50 },
  });
  OPEN.push(driver);
  return driver;
}

beforeAll(async () => {
  if (peer === undefined) return;
  bed = await TestKubernetes.start(fixture, peer.binary);
  stateDir = fixture.tempHome("driver");
  api = client();
  await installOn(api, "svc-provider");
  await status("/api/v1/nodes", "node-1", {
    allocatable: { cpu: "4", memory: "8Gi", "ephemeral-storage": "50Gi" },
    conditions: [{ type: "Ready", status: "True" }],
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: bed.nodePort } },
  });
  // Servers give it to new nodes; a controller would take it away.
  const untainted = { type: "application/merge-patch+json", object: { spec: { taints: null } } };
  expect((await bed.call("PATCH", "/api/v1/nodes/node-1", untainted)).status).toBe(200);
});

afterAll(async () => {
  for (const driver of OPEN) await driver.close();
  api?.close();
  peer?.remove();
  await fixture.close();
});

/** Sets the status of an object, which is created if it does not exist. */
async function status(collection: string, name: string, value: object, object: object = {}): Promise<void> {
  const made = await bed.call("POST", collection, {
    type: "application/json",
    object: { metadata: { name }, ...object },
  });
  expect([201, 409], made.text).toContain(made.status);
  const patch = { type: "application/merge-patch+json", object: { status: value } };
  const set = await bed.call("PATCH", `${collection}/${name}/status`, patch);
  expect(set.status, set.text).toBe(200);
}

/** A pod as the controller of a workload makes it, and as its node reports it. */
async function playPod(namespace: string, name: string, value: object): Promise<void> {
  const found = await waitFor(() => api.find<Workload>(KIND.deployment, { namespace, name: "web" }), "the workload");
  const { metadata, spec } = (found as Workload).spec.template;
  const account = { type: "application/json", object: { metadata: { name: "default" } } };
  await bed.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, account);
  const collection = `/api/v1/namespaces/${namespace}/pods`;
  await status(collection, name, value, { metadata: { ...metadata, name }, spec: { ...spec, nodeName: "node-1" } });
}

interface Workload extends ApiObject {
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: object } };
}

function running(more: object = {}) {
  const main = { name: "main", image: IMAGE, imageID: "", restartCount: 0, ready: true, started: true };
  return {
    phase: "Running",
    podIP: "10.1.2.3",
    conditions: [{ type: "Ready", status: "True" }],
    containerStatuses: [
      { ...main, containerID: "x://1", state: { running: { startedAt: "2026-01-01T00:00:00Z" } }, ...more },
    ],
  };
}

test.skipIf(peer === undefined && process.env.CI !== "true")("the server is there", () => {
  expect(built).toBeInstanceOf(Peer);
});

test.skipIf(peer === undefined)("a lease from its first object to its last", async () => {
  const driver = await open();
  expect(await driver.version()).toEqual({ kubernetes: "v1.34.4" });
  expect(await driver.obstacle()).toBeUndefined();
  expect((await driver.capacity()).nodes).toMatchObject([{ name: "node-1", cpu: 4_000n, memory: 8n << 30n }]);

  const service = sampleService(IMAGE, { expose: [sampleExpose(), sampleExpose({ externalPort: 9000 })] });
  const { id, group } = sampleSpec([service]);
  const namespace = leaseNamespace(id);
  await bed.call("POST", "/api/v1/namespaces/default/services", {
    type: "application/json",
    object: { metadata: { name: "taken" }, spec: { type: "NodePort", ports: [{ port: 1, nodePort: 30_000 }] } },
  });
  const ports = await waitFor(async () => {
    const [port] = await driver.ports.assign(sampleSpec([]).id, group);
    return port !== undefined && port.hostPort > 30_000 ? driver.ports.assign(id, group) : undefined;
  }, "a port that nobody has");
  const spec = sampleSpec([service], { id, ports: ports ?? [] });
  await driver.deploy(spec);
  expect(await driver.status(id)).toMatchObject({ health: "bad", services: [{ total: 1, available: 0 }] });

  await playPod(namespace, "web-1", running());
  await waitFor(async () => (await driver.status(id)).health === "ok", "health");
  const [first] = (await driver.status(id)).services;
  expect(first).toMatchObject({ updated: 1, replicas: [{ name: "web-0", state: "running", restarts: 0 }] });
  expect(first?.error).toBeUndefined();

  await described(namespace);
  await routes(driver, namespace, spec);
  await events(driver, namespace, spec);
  await streams(driver, namespace, spec);

  // The same again changes nothing; another daemon finds the lease as it was.
  const before = await versions(namespace);
  await driver.deploy(spec);
  await driver.close();
  const next = await open();
  expect(await next.adopt()).toEqual([{ id, version: spec.version, generation: 1, spec }]);
  await waitFor(async () => (await next.status(id)).health === "ok", "health after the start");
  await next.deploy(spec);
  expect(await versions(namespace)).toEqual(before);

  // A smaller manifest removes unwanted services, and a failed image keeps the old replica.
  const plain = sampleService("docker.io/library/none:1");
  await next.deploy(sampleSpec([plain], { id, generation: 2, version: "02".repeat(32) }));
  const services = async () =>
    (await api.list(KIND.service, { namespace })).objects.map(({ metadata }) => metadata.name);
  await waitFor(async () => (await services()).join() === "web", "the node port to be closed");
  const message = 'Back-off pulling image "docker.io/library/none:1"';
  const waiting = { state: { waiting: { reason: "ImagePullBackOff", message } }, ready: false };
  await playPod(namespace, "web-2", { ...running(waiting), phase: "Pending", conditions: [] });
  await waitFor(async () => (await next.status(id)).services[0]?.error !== undefined, "the error");
  expect(await next.status(id)).toMatchObject({
    health: "ok",
    services: [
      {
        available: 1,
        updated: 0,
        generation: 2,
        error:
          "web-0: the node does not get the image docker.io/library/none:1 yet: check its name, tag and credentials, or ask the provider",
      },
    ],
  });

  await next.restart(id, "web");
  await waitFor(async () => {
    const found = await api.find<Workload>(KIND.deployment, { namespace, name: "web" });
    return JSON.stringify(found?.spec.template.metadata).includes('"svc.restarts":"1"');
  }, "the restart");

  await removed(next, namespace, spec);
});

/** Operators see the lease and its state. */
async function described(namespace: string): Promise<void> {
  const find = () => api.find<Described>(KIND.manifest, { namespace: LEASES_SPACE, name: namespace });
  const isReady = async () => (await find())?.status?.conditions[0]?.status === "True";
  await waitFor(isReady, "the state of the lease");
  const object = await find();
  expect(object?.metadata.finalizers).toEqual(["svc.network/lease"]);
  expect(object?.spec.services).toMatchObject([
    { name: "web", image: IMAGE, count: 1, nodePorts: [expect.any(Number)] },
  ]);
}

interface Described extends ApiObject {
  readonly spec: { readonly services: readonly object[]; readonly closedAt?: string };
  readonly status?: { readonly conditions: readonly { readonly status: string }[] };
}

async function routes(
  { routing }: ClusterDriver,
  namespace: string,
  { id }: { id: Parameters<ClusterDriver["status"]>[0] },
) {
  if (routing.ingress !== "cluster") throw new Error("another ingress");
  const options = sampleExpose().httpOptions;
  const target = { lease: id, service: "web", port: 80, options };
  await routing.route(id, [{ target, hosts: ["a.example.com", "b.example.com"] }]);
  await routing.route(id, [{ target, hosts: ["b.example.com"] }]);
  const hosts = async () => (await api.list(KIND.ingress, { namespace })).objects.map(({ metadata }) => metadata.name);
  expect(await hosts()).toEqual(["b.example.com"]);
  const { objects } = await api.list(KIND.host, { namespace: LEASES_SPACE });
  expect(objects).toMatchObject([{ spec: { hostname: "b.example.com", service_name: "web", external_port: 80 } }]);
  await routing.unroute(id);
  expect(await hosts()).toEqual([]);
  expect((await api.list(KIND.host, { namespace: LEASES_SPACE })).objects).toEqual([]);
}

async function events(
  driver: ClusterDriver,
  namespace: string,
  { id }: { id: Parameters<ClusterDriver["status"]>[0] },
) {
  const now = "2026-01-01T00:00:00Z";
  for (const reason of ["Scheduled", "Pulled", "Created", "Started"]) {
    const involvedObject = { kind: "Pod", namespace, name: "web-1" };
    const object = { metadata: { name: `web-1.${reason.toLowerCase()}` }, involvedObject, reason, type: "Normal" };
    const event = { ...object, count: 1, firstTimestamp: now, lastTimestamp: now, message: reason };
    await bed.call("POST", `/api/v1/namespaces/${namespace}/events`, { type: "application/json", object: event });
  }
  const stop = new AbortController();
  const reasons: string[] = [];
  for await (const event of driver.events(id, { services: [], follow: true, tail: -1, signal: stop.signal })) {
    reasons.push(`${event.object.name} ${event.reason}`);
    if (event.reason === "Started") stop.abort();
  }
  expect(reasons).toEqual(["Pulling", "Pulled", "Created", "Started"].map((reason) => `web-0 ${reason}`));
}

async function streams(
  driver: ClusterDriver,
  namespace: string,
  { id }: { id: Parameters<ClusterDriver["status"]>[0] },
) {
  bed.print({ namespace, pod: "web-1", container: "main" }, "2026-01-01T00:00:00.5Z one\n2026-01-01T00:00:01.5Z two\n");
  const lines: string[] = [];
  const signal = new AbortController().signal;
  const options = { services: [], follow: false, tail: -1, since: Date.parse("2026-01-01T00:00:01Z"), signal };
  for await (const { name, message } of driver.logs(id, options)) lines.push(`${name} ${message}`);
  expect(lines).toEqual(["web-0 two"]);
  const request = { service: "web", replica: 0, tty: false };
  const cat = await driver.exec(id, { ...request, command: ["cat"], stdin: true });
  void cat.write(Buffer.from("through")).then(() => cat.endInput());
  let text = "";
  for await (const { data } of cat.output) text += Buffer.from(data).toString();
  expect([text, await cat.exitCode]).toEqual(["through", 0]);
}

/** Versions of all objects that the driver applies. */
async function versions(namespace: string) {
  const kinds = [KIND.secret, KIND.quota, KIND.policy, KIND.service, KIND.deployment];
  const lists = await Promise.all(kinds.map((kind) => api.list(kind, { namespace })));
  return lists.flatMap(({ objects }) =>
    objects.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.generation}`),
  );
}

/** The namespace goes when its controller has emptied it, which the test plays. */
async function removed(
  driver: ClusterDriver,
  namespace: string,
  { id }: { id: Parameters<ClusterDriver["status"]>[0] },
) {
  const gone = driver.teardown(id, 77n);
  await waitFor(async () => {
    const found = await api.find(KIND.namespace, { name: namespace });
    return found?.metadata.deletionTimestamp !== undefined;
  }, "the removal to begin");
  await expect(driver.deploy(sampleSpec([sampleService(IMAGE)], { id, generation: 3 }))).rejects.toThrow(
    /being removed/,
  );
  const manifest = await api.find<Described>(KIND.manifest, { namespace: LEASES_SPACE, name: namespace });
  expect(manifest?.metadata.finalizers).toEqual(["svc.network/closed-at-77"]);
  expect(manifest?.spec.closedAt).toBe("77");
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace }, spec: { finalizers: [] } };
  const path = `/api/v1/namespaces/${namespace}/finalize`;
  expect((await bed.call("PUT", path, { type: "application/json", object })).status).toBe(200);
  await gone;
  expect(await api.find(KIND.manifest, { namespace: LEASES_SPACE, name: namespace })).toBeUndefined();
  expect(await driver.adopt()).toEqual([]);
  await driver.teardown(id);
}
