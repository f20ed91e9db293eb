import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  collect,
  sampleService,
  sampleSpec,
  stream,
  untilHealth,
  untilOk,
} from "../../../../test/support/conformance/index.ts";
import { waitFor } from "../../../../test/support/index.ts";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";
import { SETTINGS } from "../../../../test/support/kubernetes-leases.ts";
import type { ManifestService } from "../../../sdl/index.ts";
import { type ClusterDriver, type LeaseHealth, type LeaseSpec, leaseNamespace } from "../contract/index.ts";
import type { ApiObject } from "./api/objects.ts";
import { openKubernetesDriver } from "./driver.ts";

const IMAGE = "docker.io/library/web:1";
const FULL = "Pod ephemeral local storage usage exceeds the total limit of containers 64Mi. ";
/** Longer than any test runs, so that only another event ends the wait. */
const NEVER_MS = 86_400_000;

interface Workload extends ApiObject {
  readonly spec: { readonly replicas: number };
}

interface Pod extends ApiObject {
  readonly status?: { readonly phase?: string };
}

let cluster: KubernetesDouble;
let stateDir: string;
let driver: ClusterDriver;

beforeEach(async () => {
  cluster = await KubernetesDouble.start();
  stateDir = mkdtempSync(join(tmpdir(), "svc-kubernetes-"));
});

afterEach(async () => {
  await driver.close();
  await cluster.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function open(waitMs: number): Promise<void> {
  const backoff = { first: waitMs, initial: waitMs, max: waitMs, resetAfter: NEVER_MS };
  driver = await openKubernetesDriver({
    api: cluster.server.client(),
    objects: SETTINGS,
    stateDir,
    timing: { retry: 10, maxRetry: 50, removalPoll: 10, removal: 200, report: 10, backoff },
  });
}

async function deployed(service: ManifestService): Promise<LeaseSpec> {
  const spec = sampleSpec([service]);
  await driver.deploy(spec);
  await untilOk(driver, spec.id);
  return spec;
}

function podsOf(spec: LeaseSpec, isEnded: boolean): Pod[] {
  const pods: Pod[] = cluster.server.objects(`/api/v1/namespaces/${leaseNamespace(spec.id)}/pods`);
  return pods.filter(({ status }) => (status?.phase === "Failed") === isEnded);
}

function replicasOf(spec: LeaseSpec, plural = "deployments"): number | undefined {
  const path = `/apis/apps/v1/namespaces/${leaseNamespace(spec.id)}/${plural}/web`;
  return (cluster.server.find(path) as Workload | undefined)?.spec.replicas;
}

/** Has a node end the pod of a service that has one, so many times in a row. */
async function evict(spec: LeaseSpec, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    await waitFor(() => podsOf(spec, false).length === 1, "a pod");
    const [pod] = podsOf(spec, false);
    cluster.evict(leaseNamespace(spec.id), pod?.metadata.name ?? "", FULL);
  }
}

describe("a program whose node ends it again and again", () => {
  it("has to wait from the third time on, its tenant reads why, and another version starts at once", async () => {
    await open(NEVER_MS);
    const spec = await deployed(sampleService(IMAGE));
    await evict(spec, 2);
    await untilOk(driver, spec.id);
    expect(replicasOf(spec)).toBe(1);
    await evict(spec, 1);
    await waitFor(() => replicasOf(spec) === 0, "no replicas");
    expect(podsOf(spec, false)).toEqual([]);
    const isWaiting = ({ services: [web] }: LeaseHealth) => web?.replicas[0]?.state === "backoff";
    const { services } = await untilHealth(driver, spec.id, isWaiting, "the wait");
    expect(services[0]).toMatchObject({ total: 1, available: 0, replicas: [{ name: "web-0", state: "backoff" }] });
    expect(services[0]?.error).toMatch(
      /^web-0: its ephemeral storage was exceeded, so it was ended: write less, .*; that happened 3 times in a row, so it starts again later each time, next at \d{4}-\S+Z$/,
    );
    const events = await collect(driver.events(spec.id, stream()));
    expect(events.filter(({ reason }) => reason === "BackOff").map(({ note }) => note)).toEqual([
      "web-0 starts again in 86400 s",
    ]);
    await driver.deploy({ ...spec, generation: 2, version: "ab".repeat(32) });
    await untilOk(driver, spec.id);
    expect(replicasOf(spec)).toBe(1);
  });

  it("starts again when it has waited, or when its tenant restarts it", async () => {
    await open(300);
    const spec = await deployed(sampleService(IMAGE));
    await evict(spec, 3);
    const isTold = async () =>
      (await collect(driver.events(spec.id, stream()))).some(({ reason }) => reason === "BackOff");
    await waitFor(isTold, "the wait");
    // While it waits the reason is told, so this is after that.
    const isOver = ({ health, services: [web] }: LeaseHealth) => health === "ok" && web?.error === undefined;
    await untilHealth(driver, spec.id, isOver, "the end of the wait");
    await waitFor(() => replicasOf(spec) === 1, "a replica");
    await driver.close();
    await open(NEVER_MS);
    await untilOk(driver, spec.id);
    await evict(spec, 3);
    await waitFor(() => replicasOf(spec) === 0, "no replicas");
    await driver.restart(spec.id, "web");
    await waitFor(() => replicasOf(spec) === 1, "a replica");
    await untilOk(driver, spec.id);
  });

  it("leaves no more than three ended pods, and its lease can be suspended with them", async () => {
    await open(1);
    const spec = await deployed(sampleService(IMAGE));
    await evict(spec, 6);
    await untilOk(driver, spec.id);
    await waitFor(() => podsOf(spec, true).length === 3, "three ended pods");
    await driver.suspend();
    expect(podsOf(spec, false)).toEqual([]);
  });

  it("waits with its volumes too", async () => {
    await open(NEVER_MS);
    const sample = sampleService(IMAGE);
    const attributes = [{ key: "persistent", value: "true" }];
    const data = { name: "data", size: { val: String(2 << 20) }, attributes };
    const resources = { ...sample.resources, storage: [...sample.resources.storage, data] };
    const spec = await deployed({
      ...sample,
      resources,
      params: { storage: [{ name: "data", mount: "/data", readOnly: false }] },
    });
    await evict(spec, 3);
    await waitFor(() => replicasOf(spec, "statefulsets") === 0, "no replicas");
    const told = await untilHealth(driver, spec.id, ({ health }) => health === "bad", "no replica");
    expect(told.services[0]?.error).toMatch(/^web-0: its ephemeral storage was exceeded.* 3 times in a row/);
  });

  it("does not wait for pods that ended because they were to go", async () => {
    await open(NEVER_MS);
    const spec = await deployed(sampleService(IMAGE));
    const namespace = leaseNamespace(spec.id);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const [pod] = podsOf(spec, false);
    // Not of the workload, or the cluster would count them.
    const { "double/owner": _, ...labels } = pod?.metadata.labels ?? {};
    for (let time = 0; time < 4; time++) {
      const metadata = { name: `old-${time}`, namespace, labels, deletionTimestamp: new Date().toISOString() };
      cluster.server.put(path, { metadata, status: { phase: "Running" } } as ApiObject);
      cluster.server.put(path, { metadata, status: { phase: "Failed" } } as ApiObject);
      cluster.server.remove(path, metadata.name);
    }
    // Events of the next version's pods come after that.
    const group = { ...spec.group, services: [sampleService(IMAGE, { env: ["A=2"] })] };
    await driver.deploy({ ...spec, group, generation: 2, version: "cd".repeat(32) });
    const isNext = ({ services: [web] }: LeaseHealth) => web?.updated === 1;
    await untilHealth(driver, spec.id, isNext, "the next version");
    expect((await collect(driver.events(spec.id, stream()))).map(({ reason }) => reason)).not.toContain("BackOff");
  });
});
