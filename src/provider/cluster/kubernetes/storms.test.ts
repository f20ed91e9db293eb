import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampleService, sampleSpec, untilHealth, untilOk } from "../../../../test/support/conformance/index.ts";
import { waitFor } from "../../../../test/support/index.ts";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";
import { SETTINGS } from "../../../../test/support/kubernetes-leases.ts";
import { type Logger, silentLogger } from "../../../util/index.ts";
import { type ClusterDriver, type LeaseSpec, leaseNamespace } from "../contract/index.ts";
import type { ApiObject } from "./api/objects.ts";
import { openKubernetesDriver } from "./driver.ts";

/** API servers that fail for long, lie, refuse, change what they are given, or have others who do. */

const IMAGE = "docker.io/library/web:1";
/** A thousandth of the driver's own: an hour passes in 3.6 s. */
const TIMING = { retry: 1, maxRetry: 30, removalPoll: 5, removal: 200, report: 5 };
const HOUR_MS = 3_600;

let cluster: KubernetesDouble;
let stateDir: string;
let lines: string[];
const drivers: ClusterDriver[] = [];

beforeEach(async () => {
  cluster = await KubernetesDouble.start();
  stateDir = mkdtempSync(join(tmpdir(), "svc-kubernetes-"));
  lines = [];
});

afterEach(async () => {
  for (const driver of drivers.splice(0)) await driver.close();
  await cluster.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function open(timing: Partial<typeof TIMING> = {}): Promise<ClusterDriver> {
  const write = (text: string): void => void lines.push(text);
  const log: Logger = { ...silentLogger, info: write, warn: write, error: write };
  const api = cluster.server.client({ pauseMs: 1, maxPauseMs: 30 });
  const driver = await openKubernetesDriver({
    api,
    objects: SETTINGS,
    stateDir,
    log,
    timing: { ...TIMING, ...timing },
  });
  drivers.push(driver);
  return driver;
}

async function deployed(driver: ClusterDriver): Promise<LeaseSpec> {
  const spec = sampleSpec([sampleService(IMAGE)]);
  await driver.deploy(spec);
  await untilOk(driver, spec.id);
  return spec;
}

const pods = () => cluster.server.objects("/api/v1/pods").map(({ metadata }) => metadata.uid);
const count = (text: string) => lines.filter((line) => line === text).length;

/** Numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** Answers some calls instead of the cluster; what it returns ends that. */
function between(answer: (request: IncomingMessage, response: ServerResponse, url: URL) => boolean): () => void {
  const { intercept } = cluster.server;
  cluster.server.intercept = (request, response, url) =>
    answer(request, response, url) || intercept(request, response, url);
  return () => {
    cluster.server.intercept = intercept;
  };
}

function refuse(response: ServerResponse, code: number, message: string, reason = "InternalError"): true {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify({ kind: "Status", status: "Failure", code, reason, message }));
  return true;
}

describe("an API server", () => {
  it("may be gone for an hour: nothing ends, few lines report it, and all is watched again", async () => {
    const driver = await open();
    const specs = [await deployed(driver), await deployed(driver), await deployed(driver)];
    const before = pods();
    const back = between((request) => {
      request.socket.destroy();
      return true;
    });
    cluster.server.endWatches("cut");
    await sleep(HOUR_MS);
    for (const { id } of specs) expect((await driver.status(id)).health).toBe("unknown");
    back();
    for (const { id } of specs) await untilOk(driver, id);
    expect(pods()).toEqual(before);
    await waitFor(() => count("watching the cluster works again") >= 5, "every watch");
    // One line for each kind that is watched, not one for each attempt.
    expect(count("watching the cluster failed")).toBeLessThanOrEqual(8);
  });

  it.for([
    [404, "text/html", "<h1>404 page not found</h1>"],
    [200, "text/html", "<h1>Sign in</h1>"],
    [200, "application/json", "{}"],
    [502, "text/plain", "bad gateway"],
  ] as const)("may lie behind a proxy that answers %i with %s %s: that proves nothing", async ([code, type, body]) => {
    const driver = await open();
    const spec = await deployed(driver);
    const before = pods();
    const requests = cluster.server.requests.length;
    const back = between((_, response) => {
      response.writeHead(code, { "content-type": type });
      response.end(body);
      return true;
    });
    cluster.server.endWatches("cut");
    await untilHealth(driver, spec.id, ({ health }) => health === "unknown", "unknown health");
    await expect(driver.adopt()).rejects.toThrow();
    await expect(driver.teardown(spec.id)).rejects.toThrow();
    back();
    await untilOk(driver, spec.id);
    expect(pods()).toEqual(before);
    expect(cluster.server.requests.slice(requests).filter((each) => each.startsWith("DELETE"))).toEqual([]);
  });

  it("may turn away every third call: leases come up, change and end all the same", async () => {
    const seed = Number(process.env.SVC_TEST_SEED ?? Date.now() % 2 ** 31);
    console.log(`storm: seed ${seed}`);
    const random = generator(seed);
    const driver = await open();
    const back = between((request, response, url) => {
      if (url.searchParams.get("watch") === "true" || random() > 0.3) return false;
      const [code = 500, reason] = (
        [
          [429, "TooManyRequests"],
          [409, "Conflict"],
          [500, "InternalError"],
        ] as const
      )[Math.floor(random() * 3)] ?? [500];
      if (code === 409 && request.method !== "PATCH") return false;
      return refuse(response, code, "the storm", reason);
    });
    const specs = Array.from({ length: 3 }, () => sampleSpec([sampleService(IMAGE)]));
    const insist = async (task: () => Promise<void>): Promise<true> => task().then(() => true as const);
    for (const spec of specs)
      await waitFor(() => insist(() => driver.deploy(spec)).catch(() => false), "the deployment");
    for (const { id } of specs) await untilOk(driver, id);
    for (const { id } of specs)
      await waitFor(() => insist(() => driver.teardown(id)).catch(() => false), "the removal");
    back();
    expect(await driver.adopt()).toEqual([]);
    expect(pods()).toEqual([]);
  });

  it("may have no room for anything new: what runs goes on, and the refusal is reported", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const full = "etcdserver: mvcc: database space exceeded";
    const back = between((request, response) => request.method === "PATCH" && refuse(response, 500, full));
    // The words of the server are for the log.
    const refused = { cause: { message: expect.stringContaining(full) } };
    await expect(driver.deploy(sampleSpec([sampleService(IMAGE)]))).rejects.toMatchObject(refused);
    await expect(driver.deploy({ ...spec, generation: 2 })).rejects.toMatchObject(refused);
    expect((await driver.status(spec.id)).health).toBe("ok");
    expect(await driver.adopt()).toHaveLength(1);
    await expect(driver.teardown(spec.id, 7n)).rejects.toMatchObject(refused);
    back();
    await driver.teardown(spec.id, 7n);
    expect(await driver.adopt()).toEqual([]);
  });
});

describe("rules of the cluster's operator", () => {
  const isWorkload = ({ method }: IncomingMessage, { pathname }: URL): boolean =>
    method === "PATCH" && pathname.includes("/deployments/");

  it("that refuse a workload are reported to its tenant, and asked again less and less often", async () => {
    const driver = await open();
    let asked = 0;
    const denied = 'admission webhook "policy.example.com" denied the request: no';
    const back = between((request, response, url) => {
      if (!isWorkload(request, url)) return false;
      asked++;
      return refuse(response, 403, denied, "Forbidden");
    });
    const spec = sampleSpec([sampleService(IMAGE)]);
    await driver.deploy(spec);
    const health = await untilHealth(
      driver,
      spec.id,
      ({ services }) => services[0]?.error !== undefined,
      "the refusal",
    );
    expect(health.services[0]?.error).toContain(denied);
    const before = asked;
    await sleep(20 * TIMING.maxRetry);
    expect(asked - before).toBeLessThanOrEqual(25);
    back();
    await untilOk(driver, spec.id);
  });

  it("that refuse its pods are reported to its tenant", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const path = `/apis/apps/v1/namespaces/${leaseNamespace(spec.id)}/deployments`;
    const found = cluster.server.find(`${path}/web`) as ApiObject;
    const message = 'pods "web-1" is forbidden: exceeded quota: team';
    const status = { conditions: [{ type: "ReplicaFailure", status: "True", message }] };
    cluster.server.put(path, { ...found, status } as ApiObject);
    const health = await untilHealth(driver, spec.id, ({ services }) => services[0]?.error !== undefined, "the reason");
    expect(health.services[0]?.error).toBe(`the cluster does not create a replica: ${message}`);
    cluster.server.put(path, { ...found, status: {} } as ApiObject);
    await untilHealth(driver, spec.id, ({ services }) => services[0]?.error === undefined, "no reason");
  });

  it("that refuse pods with volumes are reported to their tenant while pods are missing", async () => {
    const driver = await open();
    const sample = sampleService(IMAGE);
    const data = {
      name: "data",
      size: { val: String(2 << 20) },
      attributes: [{ key: "persistent", value: "true" }],
    };
    const resources = { ...sample.resources, storage: [...sample.resources.storage, data] };
    const params = { storage: [{ name: "data", mount: "/data", readOnly: false }] };
    const spec = sampleSpec([{ ...sample, resources, params }]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    const namespace = leaseNamespace(spec.id);
    const message = "create Pod web-0 in StatefulSet web failed error: exceeded quota";
    const events = `/api/v1/namespaces/${namespace}/events`;
    const event = (name: string, reason: string) => ({
      metadata: { name, namespace },
      type: "Warning",
      reason,
      message: reason === "FailedCreate" ? message : "something else",
      lastTimestamp: new Date().toISOString(),
      involvedObject: { kind: "StatefulSet", namespace, name: "web" },
    });
    cluster.server.put(events, event("one", "FailedCreate") as ApiObject);
    cluster.server.put(events, event("two", "FailedDelete") as ApiObject);
    // All pods are there.
    await sleep(10 * TIMING.maxRetry);
    expect((await driver.status(spec.id)).services[0]?.error).toBeUndefined();
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const [pod] = cluster.server.objects(pods);
    cluster.server.changed = () => {};
    cluster.server.remove(pods, pod?.metadata.name ?? "");
    const health = await untilHealth(driver, spec.id, ({ services }) => services[0]?.error !== undefined, "the reason");
    expect(health.services[0]?.error).toBe(`the cluster does not create a replica: ${message}`);
    cluster.server.put(pods, pod as ApiObject);
    await untilHealth(driver, spec.id, ({ services }) => services[0]?.error === undefined, "no reason");
    cluster.server.remove(pods, pod?.metadata.name ?? "");
    await untilHealth(driver, spec.id, ({ health: is }) => is === "bad", "no pod");
    expect((await driver.status(spec.id)).services[0]?.error).toBeUndefined();
  });

  it("that cannot change the volumes of a service say so in words for its tenant", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const normal = cluster.server.intercept;
    cluster.server.intercept = (request, response, url) => {
      if (request.method !== "PATCH" || !url.pathname.includes("/deployments/")) return normal(request, response, url);
      const message =
        'StatefulSet.apps "web" is invalid: spec: Forbidden: updates to statefulset spec for fields other than "replicas", are forbidden';
      response.writeHead(422).end(JSON.stringify({ kind: "Status", reason: "Invalid", code: 422, message }));
      return true;
    };
    const group = { name: "test", services: [sampleService(IMAGE, { env: ["A=2"] })] };
    await driver.deploy({ ...spec, group, generation: 2, version: "22".repeat(32) });
    const health = await untilHealth(driver, spec.id, ({ services }) => services[0]?.error !== undefined, "the reason");
    expect(health.services[0]?.error).toContain("the cluster cannot change the volumes of an existing service");
  });

  it("that change a workload as it is applied are left to it", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const path = `/apis/apps/v1/namespaces/${leaseNamespace(spec.id)}/deployments`;
    let turn = 0;
    cluster.server.changed = ((before) => (changed: string) => {
      before(changed);
      if (changed !== `${path}/web` || turn++ % 2 === 1) return;
      const found = cluster.server.find(changed);
      if (found === undefined) return;
      const annotations = { "policy.example.com/seen": "true" };
      cluster.server.put(path, { ...found, metadata: { ...found.metadata, annotations } });
    })(cluster.server.changed);
    const more = { name: "test", services: [sampleService(IMAGE, { count: 2 })] };
    await driver.deploy({ ...spec, group: more, generation: 2, version: "11".repeat(32) });
    await untilOk(driver, spec.id);
    const applied = () => cluster.server.requests.filter((each) => each.startsWith(`PATCH ${path}`)).length;
    await waitFor(() => turn >= 2, "the change of what was applied");
    const before = applied();
    await sleep(10 * TIMING.maxRetry);
    expect(applied()).toBe(before);
  });

  it("that fight over a workload cost a call now and then, and a line that says so", async () => {
    const driver = await open({ maxRetry: 300 });
    const spec = await deployed(driver);
    const path = `/apis/apps/v1/namespaces/${leaseNamespace(spec.id)}/deployments`;
    const meddle = (): void => {
      const now = cluster.server.find(`${path}/web`) as (ApiObject & { spec: { replicas: number } }) | undefined;
      if (now === undefined || now.spec.replicas === 3) return;
      const metadata = { ...now.metadata, generation: (now.metadata.generation ?? 0) + 1 };
      cluster.server.put(path, { ...now, metadata, spec: { ...now.spec, replicas: 3 } } as ApiObject);
    };
    const before = cluster.server.requests.length;
    const timer = setInterval(meddle, 1);
    await waitFor(() => count("somebody keeps changing what a lease has on the cluster") >= 5, "five lines").finally(
      () => clearInterval(timer),
    );
    const applied = cluster.server.requests.slice(before).filter((each) => each === `PATCH ${path}/web`);
    expect(applied.length).toBeGreaterThan(0);
    expect(applied.length).toBeLessThanOrEqual(30);
    const replicas = () =>
      (cluster.server.find(`${path}/web`) as unknown as { spec: { replicas: number } }).spec.replicas;
    await waitFor(() => replicas() === 1, "the number of replicas");
  });
});

describe("a provider", () => {
  it("that ends between any two calls of a deployment goes on with it when it starts again", async () => {
    const first = await open();
    const spec = sampleSpec([sampleService(IMAGE)]);
    await first.deploy(spec);
    await untilOk(first, spec.id);
    const calls = cluster.server.requests.filter((each) => each.startsWith("PATCH")).length;
    await first.teardown(spec.id);
    await first.close();
    for (let cut = 1; cut <= calls; cut++) {
      const driver = await open();
      let left = cut;
      const back = between((request) => {
        if (request.method !== "PATCH" || left-- > 0) return false;
        request.socket.destroy();
        return true;
      });
      const { id } = sampleSpec([]);
      const isKept = await driver.deploy({ ...spec, id }).then(
        () => true,
        () => false,
      );
      await sleep(5);
      await driver.close();
      back();
      const next = await open();
      if (isKept) await untilOk(next, id);
      else if ((await next.adopt()).length > 0) await next.deploy({ ...spec, id });
      await next.teardown(id);
      expect(await next.adopt(), `cut after ${cut} calls`).toEqual([]);
      await next.close();
    }
  });

  it("keeps what a node that is lost ran, until the cluster has it elsewhere", async () => {
    const driver = await open();
    const spec = await deployed(driver);
    const node = { metadata: { name: "node-1" }, status: { conditions: [{ type: "Ready", status: "Unknown" }] } };
    cluster.server.put("/api/v1/nodes", node as ApiObject);
    await waitFor(async () => (await driver.capacity()).nodes.length === 0, "no open node");
    expect((await driver.obstacle())?.text).toContain("no node of the cluster is ready");
    expect((await driver.status(spec.id)).services[0]?.total).toBe(1);
    expect(await driver.adopt()).toHaveLength(1);
    cluster.addNode("node-2");
    await waitFor(async () => (await driver.obstacle()) === undefined, "an open node");
  });
});
