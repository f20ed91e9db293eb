import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  collect,
  sampleExpose,
  sampleService,
  sampleSpec,
  stream,
  untilHealth,
  untilOk,
} from "../../../../test/support/conformance/index.ts";
import { waitFor } from "../../../../test/support/index.ts";
import { sendStatus } from "../../../../test/support/kubernetes/api-server.ts";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";
import { SETTINGS } from "../../../../test/support/kubernetes-leases.ts";
import type { HttpOptions } from "../../../sdl/index.ts";
import { type ClusterDriver, type LeaseHealth, type LeaseSpec, leaseNamespace } from "../contract/index.ts";
import type { ApiObject } from "./api/objects.ts";
import { openKubernetesDriver } from "./driver.ts";

const IMAGE = "docker.io/library/web:1";
const NAMESPACES = "/api/v1/namespaces";

let cluster: KubernetesDouble;
let stateDir: string;
const drivers: ClusterDriver[] = [];

beforeEach(async () => {
  cluster = await KubernetesDouble.start();
  stateDir = mkdtempSync(join(tmpdir(), "svc-kubernetes-"));
});

afterEach(async () => {
  for (const driver of drivers.splice(0)) await driver.close();
  await cluster.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function open(provider = "svc1provider", objects?: object): Promise<ClusterDriver> {
  const driver = await openKubernetesDriver({
    api: cluster.server.client(),
    objects: { ...SETTINGS, provider, ...objects },
    stateDir: join(stateDir, provider),
    // Host names lead through the cluster's own ingress where a test says how.
    ...(objects === undefined ? {} : { ingress: { scheme: "http" as const, port: undefined } }),
    timing: { retry: 10, maxRetry: 50, removalPoll: 10, removal: 200, report: 10, gateway: 10 },
  });
  drivers.push(driver);
  return driver;
}

function deployments(spec: LeaseSpec): string {
  return `/apis/apps/v1/namespaces/${leaseNamespace(spec.id)}/deployments`;
}

async function deployed(driver: ClusterDriver, spec = sampleSpec([sampleService(IMAGE)])): Promise<LeaseSpec> {
  await driver.deploy(spec);
  await untilOk(driver, spec.id);
  return spec;
}

describe("a cluster that does not answer", () => {
  it("proves nothing: health is unknown, calls are refused, and all is as before when it is back", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const normal = cluster.server.intercept;
    cluster.server.intercept = (request) => {
      request.socket.destroy();
      return true;
    };
    cluster.server.endWatches("cut");
    await untilHealth(driver, spec.id, ({ health }) => health === "unknown", "unknown health");
    expect((await driver.status(spec.id)).services[0]?.available).toBe(1);
    await expect(driver.teardown(spec.id)).rejects.toThrow(/does not answer/);
    await expect(driver.deploy({ ...spec, generation: 2 })).rejects.toThrow(/does not answer/);
    await expect(driver.adopt()).rejects.toThrow(/does not answer/);
    await expect(driver.capacity()).rejects.toThrow(/does not answer/);
    expect(await driver.obstacle()).toBeDefined();
    cluster.server.intercept = normal;
    await untilOk(driver, spec.id);
    expect(cluster.server.objects("/api/v1/pods")).toHaveLength(1);
  });

  it("is not forgotten in the middle of a removal", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    cluster.server.deleter = (path, object) => {
      const metadata = { ...object.metadata, finalizers: ["stuck"] };
      cluster.server.put(path.slice(0, path.lastIndexOf("/")), { ...object, metadata });
      return true;
    };
    await expect(driver.teardown(spec.id)).rejects.toThrow(/still being removed/);
    await expect(driver.deploy(spec)).rejects.toThrow(/being removed/);
    cluster.server.remove(NAMESPACES, leaseNamespace(spec.id));
    await driver.teardown(spec.id);
  });
});

describe("what others have on the cluster", () => {
  it("is not taken over: a namespace of the name that somebody else made", async () => {
    const driver = await open();
    const spec = sampleSpec([sampleService(IMAGE)]);
    const name = leaseNamespace(spec.id);
    cluster.server.put(NAMESPACES, { metadata: { name, labels: { "svc.lease": name } } });
    await expect(driver.deploy(spec)).rejects.toThrow(/not made by this provider/);
    await driver.teardown(spec.id);
    expect(cluster.server.find(`${NAMESPACES}/${name}`)).toBeDefined();
    expect(await driver.adopt()).toEqual([]);
  });

  it("is not removed with a lease whose namespace was made anew by somebody meanwhile", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const name = leaseNamespace(spec.id);
    const normal = cluster.server.intercept;
    cluster.server.intercept = (request, response, url) => {
      if (request.method !== "DELETE") return normal(request, response, url);
      cluster.server.remove(NAMESPACES, name);
      cluster.server.put(NAMESPACES, { metadata: { name } });
      sendStatus(response, 409, "Conflict");
      return true;
    };
    await driver.teardown(spec.id);
    expect(cluster.server.find(`${NAMESPACES}/${name}`)?.metadata.labels).toBeUndefined();
  });

  it("is left alone where it lies in the namespace of a lease", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const stranger = {
      metadata: { name: "backup", namespace: leaseNamespace(spec.id) },
      spec: { replicas: 0, template: {} },
    };
    cluster.server.put(deployments(spec), stranger as ApiObject);
    const before = cluster.server.requests.length;
    await driver.deploy({ ...spec, generation: 2, version: "ab".repeat(32) });
    // The last kind of object that is removed.
    const last = `GET /apis/networking.k8s.io/v1/namespaces/${leaseNamespace(spec.id)}/networkpolicies`;
    await waitFor(() => cluster.server.requests.slice(before).includes(last), "the end of the removals");
    await untilOk(driver, spec.id);
    expect(cluster.server.find(`${deployments(spec)}/backup`)).toBeDefined();
  });

  it("is another provider's: neither adopted nor purged", async () => {
    const [mine, other] = [await open(), await open("svc1other")];
    const spec = await deployed(other);
    expect(await mine.adopt()).toEqual([]);
    await mine.purge();
    expect((await other.status(spec.id)).health).toBe("ok");
    expect(await other.adopt()).toHaveLength(1);
  });

  it("is a node port that a lease wanted: the program runs, and the tenant reads why the port does not answer", async () => {
    const driver = await open();
    const service = sampleService(IMAGE, { expose: [sampleExpose(), sampleExpose({ externalPort: 9000 })] });
    const { id, group } = sampleSpec([service]);
    const ports = await driver.ports.assign(id, group);
    const normal = cluster.server.intercept;
    const message = "spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated";
    cluster.server.intercept = (request, response, url) => {
      if (request.method !== "PATCH" || !url.pathname.endsWith("-ports") || !url.pathname.includes("/services/"))
        return normal(request, response, url);
      response.writeHead(422, { "content-type": "application/json" });
      response.end(JSON.stringify({ kind: "Status", status: "Failure", code: 422, reason: "Invalid", message }));
      return true;
    };
    await driver.deploy(sampleSpec([service], { id, ports }));
    const health = await untilHealth(driver, id, (each) => each.services[0]?.error !== undefined, "the refusal");
    expect(health.services[0]?.error).toMatch(/port 30000 .* in use by somebody else/);
    await untilOk(driver, id);
  });

  it("is a node port that a lease is not given", async () => {
    const spec = { ports: [{ port: 80, nodePort: 30_000 }], type: "ClusterIP", selector: {} };
    cluster.server.put(`${NAMESPACES}/shop/services`, {
      metadata: { name: "x", namespace: "shop" },
      spec,
    } as ApiObject);
    const driver = await open();
    const service = sampleService(IMAGE, { expose: [sampleExpose({ externalPort: 9000 })] });
    const [port] = await driver.ports.assign(sampleSpec([]).id, sampleSpec([service]).group);
    expect(port?.hostPort).toBe(30_001);
  });
});

describe("what somebody does to a lease", () => {
  it("is undone: a workload that was removed or changed", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    cluster.server.remove(deployments(spec), "web");
    await waitFor(() => cluster.server.find(`${deployments(spec)}/web`) !== undefined, "the workload");
    await untilOk(driver, spec.id);
    const known = cluster.server.find(`${deployments(spec)}/web`) as ApiObject & { spec: object };
    const metadata = { ...known.metadata, generation: 99 };
    cluster.server.put(deployments(spec), { ...known, metadata, spec: { ...known.spec, replicas: 0 } } as ApiObject);
    const replicas = () =>
      (cluster.server.find(`${deployments(spec)}/web`) as unknown as { spec: { replicas: number } }).spec.replicas;
    await waitFor(() => replicas() === 1, "the number of replicas");
    await untilOk(driver, spec.id);
  });

  it("is undone: the whole namespace removed by hand, with its record", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const before = cluster.server.objects("/api/v1/pods")[0]?.metadata.uid;
    cluster.server.deleter(
      `${NAMESPACES}/${leaseNamespace(spec.id)}`,
      cluster.server.find(`${NAMESPACES}/${leaseNamespace(spec.id)}`) as ApiObject,
    );
    const uids = () => cluster.server.objects("/api/v1/pods").map(({ metadata }) => metadata.uid);
    await waitFor(() => uids().length === 1 && !uids().includes(before), "another pod");
    await untilOk(driver, spec.id);
    expect((await driver.adopt()).map((lease) => lease.spec)).toEqual([spec]);
  });

  it("is not undone at the start where the namespace is on its way out", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    await driver.close();
    const found = cluster.server.find(`${NAMESPACES}/${leaseNamespace(spec.id)}`) as ApiObject;
    cluster.server.changed = () => {};
    const metadata = { ...found.metadata, deletionTimestamp: new Date().toISOString() };
    cluster.server.put(NAMESPACES, { ...found, metadata });
    const before = cluster.server.requests.length;
    const next = await open();
    expect(await next.adopt()).toEqual([]);
    expect(await next.status(spec.id)).toEqual({ health: "unknown", services: [] });
    expect(cluster.server.requests.slice(before).filter((each) => each.startsWith("PATCH"))).toEqual([]);
  });

  it("is reported if its record can no longer be read; what runs stays", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    await driver.close();
    const secrets = `${NAMESPACES}/${leaseNamespace(spec.id)}/secrets`;
    const found = cluster.server.find(`${secrets}/svc-lease`) as ApiObject;
    cluster.server.put(secrets, { ...found, data: { record: "e30K" } } as ApiObject);
    const next = await open();
    expect(await next.adopt()).toEqual([{ id: spec.id, version: "", generation: 0, spec: undefined }]);
    expect(cluster.server.objects("/api/v1/pods")).toHaveLength(1);
    await next.teardown(spec.id);
    expect(cluster.server.objects("/api/v1/pods")).toHaveLength(0);
  });
});

describe("where the cluster routes by gateways", () => {
  it("a host name has an HTTPRoute, and no Ingress from before; without one it is as it was", async () => {
    const spec = sampleSpec([sampleService(IMAGE, { expose: [sampleExpose({ hosts: ["shop.example.com"] })] })]);
    const options = sampleExpose().httpOptions;
    const target = { lease: spec.id, service: "web", port: 80, options };
    const gateway = { namespace: "gateways", name: "tenants" };
    const space = leaseNamespace(spec.id);
    const routed = async (objects: object): Promise<string[]> => {
      const driver = await open("svc1provider", objects);
      await deployed(driver, spec);
      if (driver.routing.ingress === "cluster")
        await driver.routing.route(spec.id, [{ target, hosts: ["shop.example.com"] }]);
      return cluster.server.paths().filter((path) => path.endsWith("/shop.example.com") && path.includes(space));
    };
    const ingress = `/apis/networking.k8s.io/v1/namespaces/${space}/ingresses/shop.example.com`;
    const route = `/apis/gateway.networking.k8s.io/v1/namespaces/${space}/httproutes/shop.example.com`;
    expect(await routed({})).toEqual([ingress]);
    await drivers.pop()?.close();
    expect(await routed({ gateway })).toEqual([route]);
    await drivers.pop()?.close();
    expect(await routed({})).toEqual([ingress]);
    const [driver] = drivers;
    if (driver?.routing.ingress === "cluster") await driver.routing.unroute(spec.id);
    expect(cluster.server.find(ingress)).toBeUndefined();
  });

  it("a host name that the gateway refuses is reported to its tenant, once, and again when it is taken", async () => {
    const driver = await open("svc1provider", { gateway: { namespace: "gateways", name: "tenants" } });
    const spec = await deployed(driver);
    const target = { lease: spec.id, service: "web", port: 80, options: sampleExpose().httpOptions };
    if (driver.routing.ingress !== "cluster") throw new Error("the ingress is not the cluster's");
    await driver.routing.route(spec.id, [{ target, hosts: ["shop.example.com"] }]);
    const routes = `/apis/gateway.networking.k8s.io/v1/namespaces/${leaseNamespace(spec.id)}/httproutes`;
    const say = (status: string, generation = 1, found = "True") => {
      const accepted = {
        type: "Accepted",
        status,
        reason: "NotAllowedByListeners",
        message: "of gateway inner/edge-7",
      };
      const resolved = { type: "ResolvedRefs", status: found, reason: "BackendNotFound" };
      const parents = [{ conditions: [accepted, resolved] }];
      const route = cluster.server.find(`${routes}/shop.example.com`) as ApiObject;
      cluster.server.put(routes, {
        ...route,
        metadata: { ...route.metadata, generation },
        status: { parents },
      } as ApiObject);
    };
    const told = async () =>
      (await collect(driver.events(spec.id, stream()))).filter(({ object }) => object.kind === "HTTPRoute");
    say("False");
    await waitFor(async () => (await told()).length === 1, "the refusal");
    const note =
      "shop.example.com does not answer: the gateway refuses it (NotAllowedByListeners): it lets no host names of leases in; ask the provider";
    const { health, services } = await driver.status(spec.id);
    expect([health, services[0]?.error]).toEqual(["ok", note]);
    say("False", 2);
    say("True");
    await waitFor(async () => (await told()).length === 2, "the event that it is taken");
    expect(await told()).toMatchObject([
      { type: "Warning", reason: "NotRouted", service: "web", note },
      { type: "Normal", reason: "Routed", note: "shop.example.com is taken now" },
    ]);
    expect((await driver.status(spec.id)).services[0]?.error).toBeUndefined();
    say("True", 3, "False");
    await waitFor(async () => (await told()).length === 3, "what it does not find");
    expect((await driver.status(spec.id)).services[0]?.error).toMatch(
      /\(BackendNotFound\): it does not find the service/,
    );
    await driver.routing.unroute(spec.id);
    await waitFor(async () => (await driver.status(spec.id)).services[0]?.error === undefined, "the route to be gone");
  });

  it("options that its routes cannot hold are reported to the tenant, once", async () => {
    const gateway = { namespace: "gateways", name: "tenants" };
    const spec = sampleSpec([sampleService(IMAGE)]);
    const routed = async (options: Partial<HttpOptions>) => {
      const driver = await open("svc1provider", { gateway });
      await deployed(driver, spec);
      const target = {
        lease: spec.id,
        service: "web",
        port: 80,
        options: { ...sampleExpose().httpOptions, ...options },
      };
      if (driver.routing.ingress !== "cluster") throw new Error("the ingress is not the cluster's");
      await driver.routing.route(spec.id, [{ target, hosts: ["shop.example.com"] }]);
      const events = await collect(driver.events(spec.id, stream()));
      await drivers.pop()?.close();
      return events.filter(({ reason }) => reason === "OptionsNotKept").map(({ note }) => note);
    };
    expect(await routed({ maxBodySize: 100 << 20, nextCases: ["error", "timeout"] }), "room there is").toEqual([]);
    const wishes = { maxBodySize: 5, readTimeout: 1_000, nextTries: 9, nextCases: ["off"] };
    const [note, ...more] = await routed(wishes);
    expect(note).toMatch(
      /does not keep http_options of service "web": max_body_size, read_timeout, next_tries, next_cases; /,
    );
    expect(more).toEqual([]);
    expect(await routed(wishes)).toEqual([note]);
  });

  it.each([
    [["HTTPRouteRequestTimeout"], { request: "0s" }],
    [["HTTPRouteMethodMatching"], undefined],
    [undefined, undefined],
  ])(
    "limits on whole answers are turned off where the class of the gateway says that it has them: %j",
    async (names, timeouts) => {
      const api = "/apis/gateway.networking.k8s.io/v1";
      const gateway = { namespace: "gateways", name: "tenants" };
      cluster.server.put(`${api}/namespaces/gateways/gateways`, {
        metadata: gateway,
        spec: { gatewayClassName: "edge" },
      } as ApiObject);
      const status = { supportedFeatures: (names ?? []).map((name) => ({ name })) };
      if (names !== undefined)
        cluster.server.put(`${api}/gatewayclasses`, { metadata: { name: "edge" }, status } as ApiObject);
      const driver = await open("svc1provider", { gateway });
      const spec = await deployed(driver);
      const target = { lease: spec.id, service: "web", port: 80, options: sampleExpose().httpOptions };
      if (driver.routing.ingress !== "cluster") throw new Error("the ingress is not the cluster's");
      await driver.routing.route(spec.id, [{ target, hosts: ["shop.example.com"] }]);
      const route = cluster.server.find(`${api}/namespaces/${leaseNamespace(spec.id)}/httproutes/shop.example.com`);
      expect(Object(route).spec.rules[0].timeouts).toEqual(timeouts);
    },
  );

  it("limits on whole answers are turned off in the routes that there are when the Gateway begins to follow them", async () => {
    const api = "/apis/gateway.networking.k8s.io/v1";
    const gateway = { namespace: "gateways", name: "tenants" };
    cluster.server.put(`${api}/namespaces/gateways/gateways`, {
      metadata: gateway,
      spec: { gatewayClassName: "edge" },
    } as ApiObject);
    const driver = await open("svc1provider", { gateway });
    const [first, second] = [await deployed(driver), await deployed(driver)];
    if (driver.routing.ingress !== "cluster") throw new Error("the ingress is not the cluster's");
    for (const { id } of [first, second]) {
      const target = { lease: id, service: "web", port: 80, options: sampleExpose().httpOptions };
      await driver.routing.route(id, [{ target, hosts: ["shop.example.com"] }]);
    }
    const pathOf = ({ id }: LeaseSpec) => `${api}/namespaces/${leaseNamespace(id)}/httproutes/shop.example.com`;
    const [one, other] = [pathOf(first), pathOf(second)];
    const timeoutsOf = (path: string) => Object(cluster.server.find(path)).spec?.rules[0].timeouts;
    expect([timeoutsOf(one), timeoutsOf(other)]).toEqual([undefined, undefined]);
    await driver.routing.unroute(second.id);
    const status = { supportedFeatures: [{ name: "HTTPRouteRequestTimeout" }] };
    cluster.server.put(`${api}/gatewayclasses`, { metadata: { name: "edge" }, status } as ApiObject);
    await waitFor(() => timeoutsOf(one)?.request === "0s", "the route of the first lease");
    expect(cluster.server.find(other)).toBeUndefined();
    cluster.server.remove(`${api}/gatewayclasses`, "edge");
    await waitFor(() => timeoutsOf(one) === undefined, "the route as it was");
  });

  it("a cluster that knows no gateways routes as before", async () => {
    const { intercept } = cluster.server;
    cluster.server.intercept = (request, response, url) => {
      if (!url.pathname.startsWith("/apis/gateway")) return intercept(request, response, url);
      response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found\n");
      return true;
    };
    const driver = await open("svc1provider", {});
    const spec = await deployed(driver);
    const target = { lease: spec.id, service: "web", port: 80, options: sampleExpose().httpOptions };
    if (driver.routing.ingress !== "cluster") throw new Error("the ingress is not the cluster's");
    await driver.routing.route(spec.id, [{ target, hosts: ["shop.example.com"] }]);
    await driver.routing.unroute(spec.id);
  });
});

describe("behind the provider's own ingress", () => {
  it("requests go to the addresses of pods that are ready", async () => {
    const driver = await open();
    const moved: bigint[] = [];
    if (driver.routing.ingress === "provider") driver.routing.watch(({ dseq }) => moved.push(dseq));
    const spec = await deployed(driver);
    if (driver.routing.ingress !== "provider") throw new Error("another ingress");
    expect(driver.routing.backends(spec.id, "web", 80)).toEqual(["127.0.0.1:80"]);
    expect(driver.routing.backends(spec.id, "web", 81)).toEqual([]);
    expect(driver.routing.isSeen(spec.id)).toBe(true);
    expect(moved).toContain(spec.id.dseq);
  });
});

describe("what a cluster has for leases", () => {
  it("is what its open nodes have less the pods of others, and what operators say of storage classes", async () => {
    const labels = { "svc.gpu/vendor": "nvidia", "svc.gpu/model": "a100", "svc.gpu/ram": "80Gi" };
    cluster.addNode("node-2", labels, { cpu: "2500m", memory: "1e9", "nvidia.com/gpu": "4" });
    const taken = { cpu: "500m", memory: "100M", "ephemeral-storage": "1Gi", "nvidia.com/gpu": "1" };
    const spec = { nodeName: "node-2", containers: [{ resources: { requests: taken } }] };
    const pod = { metadata: { name: "dns", namespace: "kube-system" }, spec };
    cluster.server.put(`${NAMESPACES}/kube-system/pods`, pod as ApiObject);
    const annotations = { "svc.capacity": "1Ti", "storageclass.kubernetes.io/is-default-class": "true" };
    cluster.server.put("/apis/storage.k8s.io/v1/storageclasses", { metadata: { name: "beta2", annotations } });
    cluster.server.put("/apis/storage.k8s.io/v1/storageclasses", { metadata: { name: "unknown" } });
    const driver = await open();
    const { nodes, storage } = await driver.capacity();
    expect(storage).toEqual([{ classes: ["beta2", "default"], bytes: 1n << 40n }]);
    expect(nodes.map(({ name }) => name)).toEqual(["node-1", "node-2"]);
    expect(nodes[1]).toEqual({
      name: "node-2",
      cpu: 2_000n,
      memory: 900_000_000n,
      storage: [{ classes: ["ephemeral"], bytes: 99n << 30n }],
      gpus: [{ vendor: "nvidia", model: "a100", ram: "80Gi", count: 3n }],
    });
  });
});

describe("an image that runs as root where that is not allowed", () => {
  it.each([
    [
      "container has runAsNonRoot and image will run as root (pod: x, container: main)",
      "web-0: the image runs as root, which this provider does not allow: name another user in the image (USER 1000)",
    ],
    [
      "container has runAsNonRoot and image has non-numeric user (nginx), cannot verify user is non-root",
      'web-0: the image names its user "nginx" by a word, which may be root: name the user by a number in the image (USER 1000)',
    ],
  ])("is told to its tenant with the remedy: %s", async (message, sentence) => {
    const driver = await open();
    const spec = await deployed(driver);
    const [pod] = cluster.server.objects("/api/v1/pods");
    const status = {
      phase: "Pending",
      conditions: [{ type: "Ready", status: "False" }],
      containerStatuses: [
        { name: "main", restartCount: 0, state: { waiting: { reason: "CreateContainerConfigError", message } } },
      ],
    };
    cluster.server.put(`${NAMESPACES}/${leaseNamespace(spec.id)}/pods`, { ...pod, status } as never);
    const isTold = ({ services }: LeaseHealth) => services[0]?.error !== undefined;
    const health = await untilHealth(driver, spec.id, isTold, "the sentence");
    expect(health.services[0]?.error).toBe(sentence);
  });
});

describe("what a tenant reads", () => {
  it("is that a new version did not become ready in time, where nothing else is known", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const workload = cluster.server.find(`${deployments(spec)}/web`) as ApiObject;
    const conditions = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "x" }];
    cluster.server.put(deployments(spec), { ...workload, status: { conditions } } as ApiObject);
    const isTold = ({ services }: LeaseHealth) => services[0]?.error !== undefined;
    const { services } = await untilHealth(driver, spec.id, isTold, "the sentence");
    expect(services[0]?.error).toMatch(/^its new replicas did not become ready within ten minutes: see its log/);
    cluster.server.put(deployments(spec), workload);
    await untilHealth(driver, spec.id, (health) => !isTold(health), "that it is ready");
  });

  it("has nothing of the nodes: in the state, and in events", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const [pod] = cluster.server.objects("/api/v1/pods");
    const message =
      "node-1.: dial tcp 10.0.0.7:5000: refused; open /run/containerd/io.containerd.runtime.v2.task/k8s.io/a: no such file";
    const status = {
      phase: "Pending",
      conditions: [{ type: "Ready", status: "False" }],
      containerStatuses: [{ name: "main", restartCount: 0, state: { waiting: { reason: "ErrImagePull", message } } }],
    };
    const namespace = `${NAMESPACES}/${leaseNamespace(spec.id)}`;
    cluster.server.put(`${namespace}/pods`, { ...pod, status } as never);
    const involvedObject = { name: pod?.metadata.name };
    cluster.server.put(`${namespace}/events`, {
      metadata: { name: "e1", namespace: leaseNamespace(spec.id), uid: "e1" },
      reason: "Failed",
      type: "Warning",
      message,
      involvedObject,
    } as never);
    const surroundings = [
      ["FailedScheduling", "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {rack: b7}."],
      ["FailedMount", "MountVolume.SetUp failed: rpc error: nfs.inner.example:/srv/b7 is stale"],
    ];
    for (const [reason, said] of surroundings) {
      const metadata = { name: reason, namespace: leaseNamespace(spec.id), uid: reason };
      const event = { metadata, reason, type: "Warning", message: said, involvedObject };
      cluster.server.put(`${namespace}/events`, event as never);
    }
    const eventsOf = () => collect(driver.events(spec.id, stream()));
    await waitFor(async () => (await eventsOf()).some(({ reason }) => reason === "FailedMount"), "the last event");
    await waitFor(async () => (await eventsOf()).some(({ note }) => note.includes("dial tcp")), "the event");
    const isTold = ({ services }: LeaseHealth) => services[0]?.error !== undefined;
    const health = await untilHealth(driver, spec.id, isTold, "the fault");
    const told = JSON.stringify([health, await eventsOf()]);
    expect(told).toContain("(a node).: dial tcp (a private address)");
    expect(told).not.toMatch(/10\.0\.0\.7|containerd|node-1|b7|inner/);
    expect(told).toMatch(/room for it now \(cpu\).*the node cannot mount its volumes yet/);
    expect(health.services[0]?.error).toMatch(/the registry of the image does not answer over TLS/);
  });
});

describe("what operators see of a lease", () => {
  const manifests = `/apis/svc.network/v1beta1/namespaces/lease/manifests`;
  const shown = (spec: LeaseSpec) =>
    cluster.server.find(`${manifests}/${leaseNamespace(spec.id)}`) as Shown | undefined;

  /** By two providers: not ready, ready, and again at the second one's start. */
  const MOST_WRITES = 4;

  interface Shown extends ApiObject {
    readonly spec: { readonly closedAt?: string };
    readonly status?: {
      readonly conditions: readonly [{ readonly status: string; readonly message: string; lastTransitionTime: string }];
    };
  }

  it("is its id, services and state, and nothing that its tenant keeps to itself", async () => {
    const driver = await open();
    const service = sampleService(IMAGE, { env: ["PASSWORD=secret-word"] });
    const spec = await deployed(driver, sampleSpec([service]));
    await waitFor(() => shown(spec)?.status?.conditions[0].status === "True", "the state");
    const object = shown(spec);
    expect(object?.metadata.finalizers).toEqual(["svc.network/lease"]);
    expect(object).toMatchObject({
      spec: { lease: { dseq: spec.id.dseq.toString() }, services: [{ name: service.name, image: IMAGE, count: 1 }] },
      status: { services: [{ name: service.name, total: 1, available: 1 }] },
    });
    expect(JSON.stringify(object)).not.toContain("secret-word");

    const [pod] = cluster.server.objects("/api/v1/pods");
    const waiting = { reason: "CrashLoopBackOff", message: "back-off restarting failed container" };
    const status = {
      phase: "Running",
      conditions: [{ type: "Ready", status: "False" }],
      containerStatuses: [{ name: "main", restartCount: 1, state: { waiting } }],
    };
    cluster.server.put(`${NAMESPACES}/${leaseNamespace(spec.id)}/pods`, { ...pod, status } as never);
    await waitFor(() => shown(spec)?.status?.conditions[0].status === "False", "the fault");
    expect(shown(spec)?.status?.conditions[0].message).toMatch(/its program keeps ending/);
  });

  it("costs nothing while nothing changes, and keeps its times over a restart of the provider", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const since = () => shown(spec)?.status?.conditions[0].lastTransitionTime;
    await waitFor(() => shown(spec)?.status?.conditions[0].status === "True", "the state");
    await driver.close();
    const old = "2020-01-01T00:00:00Z";
    const object = shown(spec) as Shown;
    const [ready] = object.status?.conditions ?? [];
    cluster.server.put(manifests, {
      ...object,
      status: { conditions: [{ ...ready, lastTransitionTime: old }] },
    } as never);
    const next = await open();
    await untilOk(next, spec.id);
    await waitFor(() => shown(spec)?.status?.conditions[0].message === "", "the state");
    for (let at = 0; at < 3; at++) await next.deploy(spec);
    await next.close();
    const writes = cluster.server.requests.filter((each) => each.endsWith("/status")).length;
    expect(writes).toBeLessThanOrEqual(MOST_WRITES);
    expect(since()).toBe(old);
  });

  it("goes last, with the height at which the lease ended, and holds a removal through a crash", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    await waitFor(() => shown(spec)?.status !== undefined, "the state");
    const free = cluster.server.deleter;
    cluster.server.deleter = (path, object) => {
      const metadata = { ...object.metadata, finalizers: ["stuck"] };
      cluster.server.put(path.slice(0, path.lastIndexOf("/")), { ...object, metadata });
      return true;
    };
    await expect(driver.teardown(spec.id, 1_234n)).rejects.toThrow(/still being removed/);
    expect(shown(spec)).toMatchObject({
      metadata: { finalizers: ["svc.network/closed-at-1234"] },
      spec: { closedAt: "1234" },
    });
    await driver.close();

    // Another daemon ignores the ended lease, announces nothing about it, and completes its removal.
    cluster.server.deleter = free;
    const name = leaseNamespace(spec.id);
    const namespace = cluster.server.find(`${NAMESPACES}/${name}`) as ApiObject;
    const { finalizers: _, ...metadata } = namespace.metadata;
    cluster.server.put(NAMESPACES, { ...namespace, metadata });
    const next = await open();
    expect(await next.status(spec.id)).toEqual({ health: "unknown", services: [] });
    expect(await next.adopt()).toEqual([]);
    await waitFor(() => shown(spec) === undefined, "the end of the removal");
    expect(cluster.server.find(`${NAMESPACES}/${name}`)).toBeUndefined();
    await next.teardown(spec.id, 1_234n);
  });

  it("stays with the lease where somebody deletes it, until the lease has ended", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    await waitFor(() => shown(spec)?.status !== undefined, "the state");
    const object = shown(spec) as Shown;
    const metadata = { ...object.metadata, deletionTimestamp: new Date().toISOString() };
    cluster.server.put(manifests, { ...object, metadata } as Shown);
    await driver.deploy({ ...spec, generation: 2 });
    await untilOk(driver, spec.id);
    expect(shown(spec)).toBeDefined();
    await driver.teardown(spec.id, 77n);
    expect(shown(spec)).toBeUndefined();
    expect(cluster.server.objects("/api/v1/pods")).toEqual([]);
  });

  it("is missing where the cluster does not know it, and the lease runs and ends without", async () => {
    const normal = cluster.server.intercept;
    cluster.server.intercept = (request, response, url) => {
      if (!url.pathname.startsWith("/apis/svc.network/")) return normal(request, response, url);
      response.writeHead(404).end("404 page not found");
      return true;
    };
    const driver = await open();
    const spec = await deployed(driver);
    await driver.teardown(spec.id, 5n);
    expect(cluster.server.objects("/api/v1/pods")).toEqual([]);
  });
});
