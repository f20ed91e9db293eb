import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClusterDriver, endpointNames, leaseNamespace } from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import { KIND, LEASES_SPACE } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import { sampleExpose, sampleLease, sampleService, sampleSpec } from "../support/conformance/index.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { TestKubernetes } from "../support/kubernetes.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { buildPeer, Peer } from "./peers.ts";

/**
 * Leased addresses on a real API server, with the rights of an installation. The test gives addresses to services as MetalLB
 * does, and removes namespaces as controllers do.
 */

const built = await buildPeer("kubernetes");
const peer = built instanceof Peer ? built : undefined;
const fixture = new Fixture();
const POOL = ["203.0.113.1", "203.0.113.2"];
const OPEN: ClusterDriver[] = [];
let bed: TestKubernetes;
let api: KubernetesApi;

async function open(provider = SETTINGS.provider): Promise<ClusterDriver> {
  const account = await bed.configOf("svc-provider", "svc-provider");
  const driver = await openKubernetesDriver({
    api: new KubernetesApi(readKubeconfig(account), { pauseMs: 50, maxPauseMs: 200 }),
    objects: { ...SETTINGS, provider },
    stateDir: fixture.tempHome(`driver-${OPEN.length}`),
    leasedIps: POOL,
    timing: { retry: 50, maxRetry: 200, removalPoll: 50, removal: 60_000, report: 50 },
  });
  OPEN.push(driver);
  return driver;
}

beforeAll(async () => {
  if (peer === undefined) return;
  bed = await TestKubernetes.start(fixture, peer.binary);
  api = new KubernetesApi(readKubeconfig(bed.config), { pauseMs: 50, maxPauseMs: 200 });
  await installOn(api, "svc-provider");
});

afterAll(async () => {
  for (const driver of OPEN) await driver.close();
  api?.close();
  peer?.remove();
  await fixture.close();
});

function specOf(id: LeaseKey) {
  const expose = [
    sampleExpose({ ip: "public", endpointSequenceNumber: 1 }),
    sampleExpose({ ip: "public", endpointSequenceNumber: 1, port: 5353, externalPort: 53, proto: "UDP" as const }),
  ];
  const ports = [{ service: "web", port: 5353, externalPort: 53, proto: "UDP" as const, hostPort: 0 }];
  const spec = sampleSpec([sampleService("docker.io/library/web:1", { expose })], { id });
  return { ...spec, ports: ports.map((each) => ({ ...each, hostPort: 30_000 + Number(id.dseq % 1_000n) })) };
}

async function deploy(driver: ClusterDriver, id: LeaseKey): Promise<void> {
  const spec = specOf(id);
  await driver.addresses.claim(id, endpointNames(spec.group));
  await driver.deploy(spec);
}

interface ApiService extends ApiObject {
  readonly spec: { readonly type: string; readonly ports: readonly { readonly nodePort?: number }[] };
}

/** Services that lead from addresses to the lease. */
async function balanced(id: LeaseKey): Promise<readonly ApiService[]> {
  const { objects } = await api.list<ApiService>(KIND.service, { namespace: leaseNamespace(id) });
  return objects.filter(({ spec }) => spec.type === "LoadBalancer");
}

/** Gives the service of the lease the address that it asks for. */
async function balance(id: LeaseKey): Promise<void> {
  const [service] = (await waitFor(async () => {
    const found = await balanced(id);
    return found.length > 0 ? found : undefined;
  }, "the service")) as readonly ApiService[];
  const address = service?.metadata.annotations?.["metallb.io/loadBalancerIPs"];
  const path = `/api/v1/namespaces/${leaseNamespace(id)}/services/${service?.metadata.name}/status`;
  const object = { status: { loadBalancer: { ingress: [{ ip: address, ipMode: "VIP" }] } } };
  const answer = await bed.call("PATCH", path, { type: "application/merge-patch+json", object });
  expect(answer.status, answer.text).toBe(200);
}

/** Ends a lease as controllers would. */
async function teardown(driver: ClusterDriver, id: LeaseKey): Promise<void> {
  const name = leaseNamespace(id);
  const gone = driver.teardown(id, 9n);
  await waitFor(async () => {
    const found = await api.find(KIND.namespace, { name });
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  }, "the removal to begin");
  expect(await held(), "an address stays while anything of its lease is there").toContain(POOL[0]);
  for (const { metadata } of await balanced(id))
    await api.delete(KIND.service, { namespace: name, name: metadata.name });
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name }, spec: { finalizers: [] } };
  await bed.call("PUT", `/api/v1/namespaces/${name}/finalize`, { type: "application/json", object });
  await gone;
}

async function held(): Promise<string[]> {
  const { objects } = await api.list(KIND.leasedIp, { namespace: LEASES_SPACE });
  return objects.map(({ metadata }) => metadata.name);
}

test.skipIf(peer === undefined && process.env.CI !== "true")("the server is there", () => {
  expect(built).toBeInstanceOf(Peer);
});

test.skipIf(peer === undefined)("an address from its claim to the end of its lease, with a migration", async () => {
  let driver = await open();
  const [one, two] = [sampleLease(), sampleLease()];
  await deploy(driver, one);
  await deploy(driver, two);
  await balance(one);
  const told = async (id: LeaseKey) =>
    ((await driver.status(id)).addresses ?? []).map(
      ({ address, externalPort, proto, assigned }) => `${address}:${externalPort}/${proto} ${assigned}`,
    );
  await waitFor(
    async () => (await told(one)).join() === `${POOL[0]}:80/TCP true,${POOL[0]}:53/UDP true`,
    "the address",
  );
  const [service] = await balanced(one);
  expect(
    service?.spec.ports.every(({ nodePort }) => nodePort === undefined),
    "nodes open no port for it",
  ).toBe(true);
  expect(await balanced(two)).toEqual([]);
  expect((await driver.capacity()).addresses).toBe(2);

  await driver.addresses.migrate(two, ["public"]);
  await balance(two);
  await waitFor(async () => (await told(two))[0] === `${POOL[0]}:80/TCP true`, "the address at the other lease");
  expect([await balanced(one), await told(one)]).toEqual([[], []]);
  await driver.addresses.migrate(two, ["public"]);
  const [record] = (await api.list(KIND.leasedIp, { namespace: LEASES_SPACE })).objects;
  expect(record).toMatchObject({
    metadata: { name: POOL[0], finalizers: ["svc.network/address"] },
    spec: { address: POOL[0], endpoint: "public", owner: two.owner, dseq: `${two.dseq}` },
  });

  await driver.close();
  driver = await open();
  expect([driver.addresses.heldBy(one), driver.addresses.heldBy(two)]).toEqual([[], ["public"]]);
  await teardown(driver, two);
  expect(await held()).toEqual([]);
});

test.skipIf(peer === undefined)(
  "a record from before groups shared addresses is taken up, shared and given back",
  async () => {
    const [first, second] = [sampleLease(), sampleLease()];
    const before = await open("svc1provider-4");
    await before.addresses.claim(first, ["public"]);
    await before.addresses.claim(second, ["other"]);
    await before.close();
    for (const name of await held()) {
      const path = `/apis/svc.network/v1beta1/namespaces/${LEASES_SPACE}/providerleasedips/${name}`;
      const object = { spec: { groups: null } };
      expect((await bed.call("PATCH", path, { type: "application/merge-patch+json", object })).status).toBe(200);
    }
    const driver = await open("svc1provider-4");
    const sister = { ...first, gseq: 2 };
    await driver.addresses.claim(sister, ["public"]);
    expect(driver.addresses.holdersOf(first.owner, "public")).toEqual([first, sister]);
    for (const id of [first, sister, second]) await driver.addresses.retain(id, []);
    expect(await held()).toEqual([]);
  },
);

test.skipIf(peer === undefined)(
  "two providers that claim at the same moment get two addresses, and then none is left",
  async () => {
    const [one, two] = [await open("svc1provider-1"), await open("svc1provider-2")];
    const claims = ["aa", "bb"].flatMap((name) =>
      [one, two].map((driver) => driver.addresses.claim({ ...sampleLease(), owner: `svc1${name}` }, [name])),
    );
    const results = await Promise.allSettled(claims);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(POOL.length);
    expect((await held()).sort()).toEqual(POOL);
    for (const driver of [one, two]) await driver.purge();
    expect(await held()).toEqual([]);
  },
);

test.skipIf(peer === undefined)(
  "a record that an administrator deletes stays until the provider gives the address back",
  async () => {
    const driver = await open("svc1provider-3");
    const id = sampleLease();
    await driver.addresses.claim(id, ["mine"]);
    const [name = ""] = await held();
    await api.delete(KIND.leasedIp, { namespace: LEASES_SPACE, name });
    expect(await held()).toEqual([name]);
    await driver.addresses.migrate({ ...id, dseq: id.dseq + 100n }, ["mine"]);
    await driver.addresses.retain({ ...id, dseq: id.dseq + 100n }, []);
    expect(await held()).toEqual([]);
  },
);
