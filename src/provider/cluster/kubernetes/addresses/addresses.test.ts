import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  sampleExpose,
  sampleLease,
  sampleService,
  sampleSpec,
  untilHealth,
} from "../../../../../test/support/conformance/index.ts";
import { KubernetesDouble } from "../../../../../test/support/kubernetes-double.ts";
import { SETTINGS } from "../../../../../test/support/kubernetes-leases.ts";
import { type Rng, seedFrom } from "../../../../../test/support/rng.ts";
import type { LeaseKey } from "../../../../wire/index.ts";
import { type ClusterDriver, endpointNames, type LeaseHealth, leaseNamespace } from "../../contract/index.ts";
import type { ApiObject } from "../api/objects.ts";
import { openKubernetesDriver } from "../driver.ts";

const POOL = ["203.0.113.1", "203.0.113.2", "203.0.113.3"];
const RECORDS = "/apis/svc.network/v1beta1/namespaces/lease/providerleasedips";
const SERVICES = "/api/v1/services";
const OPEN: ClusterDriver[] = [];
let cluster: KubernetesDouble;
let stateDir: string;

async function open(settings = SETTINGS, api = cluster.server.client()): Promise<ClusterDriver> {
  const driver = await openKubernetesDriver({
    api,
    objects: { ...settings, allowLocalImages: true },
    stateDir,
    leasedIps: POOL,
    timing: { retry: 10, maxRetry: 50, removalPoll: 10, report: 10 },
  });
  OPEN.push(driver);
  return driver;
}

beforeEach(async () => {
  cluster = await KubernetesDouble.start();
  stateDir = mkdtempSync(join(tmpdir(), "svc-kubernetes-ip-"));
});

afterEach(async () => {
  for (const driver of OPEN.splice(0)) await driver.close();
  await cluster.close();
  rmSync(stateDir, { recursive: true, force: true });
});

function specOf(id: LeaseKey, names: readonly string[], generation = 1) {
  const expose = names.map((ip, at) => sampleExpose({ ip, endpointSequenceNumber: at + 1 }));
  return sampleSpec([sampleService("localhost/web:1", { expose: names.length === 0 ? [sampleExpose()] : expose })], {
    id,
    generation,
  });
}

async function deploy(driver: ClusterDriver, id: LeaseKey, ...names: readonly string[]): Promise<void> {
  const spec = specOf(id, names);
  await driver.addresses.claim(id, endpointNames(spec.group));
  await driver.deploy(spec);
}

function untilAssigned(driver: ClusterDriver, id: LeaseKey) {
  const isAssigned = ({ addresses = [] }: Awaited<ReturnType<ClusterDriver["status"]>>) =>
    addresses.length > 0 && addresses.every(({ assigned }) => assigned);
  return untilHealth(driver, id, isAssigned, "its addresses");
}

/** Address and namespace of everything that leads to a lease. */
function leading(): string[] {
  const services = cluster.server.objects(SERVICES).filter((each) => Object(each).spec.type === "LoadBalancer");
  return services.map(({ metadata }) => `${metadata.labels?.["svc.address"]} ${metadata.namespace}`).sort();
}

/** Address and owner of every record. */
function recorded(): string[] {
  return cluster.server
    .objects(RECORDS)
    .map((each) => `${each.metadata.name} ${Object(each).spec.owner}/${Object(each).spec.dseq}`)
    .sort();
}

test("who has an address since when stands on the cluster, until the lease is gone", async () => {
  const driver = await open();
  const id = sampleLease();
  await deploy(driver, id, "mine");
  await untilAssigned(driver, id);
  const [record] = cluster.server.objects(RECORDS);
  expect(record).toMatchObject({
    metadata: { name: POOL[0], finalizers: ["svc.network/address"] },
    spec: { address: POOL[0], endpoint: "mine", owner: id.owner, dseq: `${id.dseq}` },
  });
  expect(Object(record).spec.since).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/);
  await driver.addresses.claim(id, ["second"]);
  await driver.teardown(id, 9n);
  expect([recorded(), leading()]).toEqual([[], []]);
});

test("an address that is not assigned yet is reported, and one that the balancer replaced by another", async () => {
  cluster.balances = false;
  const driver = await open();
  const id = sampleLease();
  await deploy(driver, id, "mine");
  const { addresses } = await untilHealth(driver, id, ({ health }) => health === "ok", "health ok");
  const problem = "the provider's load balancer has not given it to the service yet; ask the provider if that lasts";
  expect(addresses).toMatchObject([{ address: POOL[0], assigned: false, problem }]);
  const service = cluster.server.objects(SERVICES).find((each) => Object(each).spec.type === "LoadBalancer");
  const status = { loadBalancer: { ingress: [{ ip: "198.51.100.9" }] } };
  const told = { ...service, status } as unknown as ApiObject;
  cluster.server.put(`/api/v1/namespaces/${leaseNamespace(id)}/services`, told);
  await vi.waitFor(
    async () =>
      expect((await driver.status(id)).addresses).toMatchObject([
        {
          assigned: false,
          problem: "the provider's load balancer gave the service another address in its place; ask the provider",
        },
      ]),
    30_000,
  );
});

test.each([
  [
    ["AllocationFailed", 'can\'t change sharing key for "a", address also in use by lease-7/web'],
    "somebody else on the provider's cluster has it (AllocationFailed); ask the provider",
  ],
  [
    ["AllocationFailed", '["203.0.113.1"] is not allowed in config'],
    "the provider's load balancer does not hand it out (AllocationFailed); ask the provider",
  ],
  [
    ["SyncLoadBalancerFailed", "Error syncing load balancer: lease-7 quota"],
    "the provider's load balancer refuses it (SyncLoadBalancerFailed); ask the provider",
  ],
  [
    ["nodeAssigned", "lease-7"],
    "the provider's load balancer has not given it to the service yet; ask the provider if that lasts",
  ],
])("an address that is refused is reported with the reason, in no words about others: %j", async (said, problem) => {
  cluster.balances = false;
  const driver = await open();
  const id = sampleLease();
  await deploy(driver, id, "mine");
  await untilHealth(driver, id, ({ health }) => health === "ok", "health ok");
  const namespace = leaseNamespace(id);
  const service = cluster.server.objects(SERVICES).find((each) => Object(each).spec.type === "LoadBalancer");
  const events = [said, ["AllocationFailed", "of a pod"]].map(([reason, message], at) => ({
    metadata: { name: `event-${at}`, namespace },
    ...{ type: "Warning", reason, message, lastTimestamp: new Date().toISOString() },
    involvedObject: { kind: at === 0 ? "Service" : "Pod", namespace, name: service?.metadata.name },
  }));
  for (const event of events) cluster.server.put(`/api/v1/namespaces/${namespace}/events`, event as ApiObject);
  const isTold = ({ addresses = [] }: LeaseHealth) => addresses[0]?.problem === problem;
  const { addresses } = await untilHealth(driver, id, isTold, "the reason");
  expect(addresses).toMatchObject([{ assigned: false }]);
});

test("what others have of the pool is neither counted nor given out", async () => {
  cluster.server.put("/api/v1/namespaces/ingress/services", {
    metadata: { name: "front", namespace: "ingress" },
    spec: { type: "LoadBalancer", ports: [] },
    status: { loadBalancer: { ingress: [{ ip: POOL[0] }] } },
  } as unknown as ApiObject);
  const other = await open({ ...SETTINGS, provider: "svc1otherprovider" });
  await other.addresses.claim({ ...sampleLease(), provider: "svc1otherprovider" }, ["mine"]);
  const driver = await open();
  await vi.waitFor(async () => expect((await driver.capacity()).addresses).toBe(1), 30_000);
  const id = sampleLease();
  await driver.addresses.claim(id, ["mine"]);
  await expect(driver.addresses.claim(id, ["more"])).rejects.toThrow(/no IP address is left/);
  expect(recorded().map((each) => each.split(" ")[0])).toEqual(POOL.slice(1));
  await driver.purge();
  expect(recorded().map((each) => each.split(" ")[0])).toEqual([POOL[1]]);
});

test("two providers on one cluster that claim at the same moment never get the same address", async () => {
  const [one, two] = [await open(), await open({ ...SETTINGS, provider: "svc1otherprovider" })];
  const claims = ["a", "b", "c"].flatMap((name) => [
    one.addresses.claim(sampleLease(), [name]),
    two.addresses.claim({ ...sampleLease(), provider: "svc1otherprovider" }, [name]),
  ]);
  const results = await Promise.allSettled(claims);
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect(recorded()).toHaveLength(3);
});

test("a record that somebody deletes stays until its lease gives the address back", async () => {
  const driver = await open();
  const id = sampleLease();
  await driver.addresses.claim(id, ["mine"]);
  await cluster.server.client().delete(KIND, { namespace: "lease", name: POOL[0] ?? "" });
  expect(cluster.server.objects(RECORDS)[0]?.metadata.deletionTimestamp).toBeDefined();
  await driver.addresses.migrate({ ...id, dseq: id.dseq + 1_000n }, ["mine"]);
  expect(recorded()).toEqual([`${POOL[0]} ${id.owner}/${id.dseq + 1_000n}`]);
  await driver.addresses.retain({ ...id, dseq: id.dseq + 1_000n }, []);
  expect(recorded()).toEqual([]);
});

const KIND = { apiVersion: "svc.network/v1beta1", kind: "ProviderLeasedIP", plural: "providerleasedips" };

test("an object that leads from an address to a lease that no longer has it goes before another leads there", async () => {
  const driver = await open();
  const [one, two] = [sampleLease(), sampleLease()];
  await deploy(driver, one, "mine");
  await deploy(driver, two, "mine");
  await untilAssigned(driver, one);
  await driver.close();
  // As after a crash between the record and the objects.
  const record = cluster.server.objects(RECORDS)[0];
  const moved = { ...record, spec: { ...Object(record).spec, dseq: `${two.dseq}` } } as unknown as ApiObject;
  cluster.server.put(RECORDS, moved);
  const again = await open();
  await untilAssigned(again, two);
  expect(leading()).toEqual([`${POOL[0]} ${leaseNamespace(two)}`]);
  expect(cluster.contested.size, "it was never asked for by both").toBe(0);
});

test("nothing is deployed for a lease while it is being removed, known or not", async () => {
  const driver = await open();
  const id = sampleLease();
  const answer = cluster.server.intercept;
  for (const round of ["unknown", "known"]) {
    const held: (() => void)[] = [];
    cluster.server.intercept = (request, response, url) => {
      if (url.pathname !== "/version") return answer(request, response, url);
      held.push(() => answer(request, response, url));
      return true;
    };
    const removals = [driver.teardown(id, 9n), driver.teardown(id, 9n)];
    await vi.waitFor(() => expect(held.length, round).toBeGreaterThan(0), 30_000);
    await expect(deploy(driver, id, "mine")).rejects.toThrow(/being removed|closing|ending/);
    cluster.server.intercept = answer;
    for (const each of held) each();
    await Promise.all(removals);
    expect([recorded(), leading()]).toEqual([[], []]);
    if (round === "unknown") await deploy(driver, id, "mine");
  }
});

/**
 * A client whose calls that lead an address to the lease wait until then, or for a while where that waits for them. An address migrates
 * on to the next lease as soon as such a call is under way.
 */
function slowClient(id: LeaseKey, until: () => boolean, next?: LeaseKey) {
  const api = cluster.server.client();
  const apply = api.apply.bind(api);
  const soon = (is: () => boolean) => vi.waitFor(() => expect(is()).toBe(true), { timeout: 500 }).catch(() => {});
  let begun = false;
  const slow: typeof api.apply = async (resource, object) => {
    const { labels, namespace } = object.metadata;
    const isLeading = labels?.["svc.address"] !== undefined && namespace === leaseNamespace(id);
    begun ||= isLeading;
    if (next !== undefined && Object(object).spec?.dseq === `${next.dseq}`) await soon(() => begun || leadsTo(id));
    if (isLeading) await soon(until);
    return apply(resource, object);
  };
  return Object.assign(api, { apply: slow });
}

const leadsTo = (id: LeaseKey) => leading().some((each) => each.endsWith(leaseNamespace(id)));

test("addresses that a failed claim gives back lead to no lease that a pass brings up to date meanwhile", async () => {
  const [one, two] = [sampleLease(), { ...sampleLease(), owner: "svc1other" }];
  const driver = await open(
    SETTINGS,
    slowClient(one, () => leadsTo(two)),
  );
  const names = ["a", "b", "c", "d"];
  await driver.deploy(specOf(two, ["x", "y", "z"]));
  await driver.deploy(specOf(one, []));
  for (let round = 2; round < 5; round++) {
    const claimed = driver.addresses.claim(one, names);
    await Promise.all([driver.deploy(specOf(one, names, round)), expect(claimed).rejects.toThrow(/no IP address/)]);
    await driver.addresses.claim(two, ["x", "y", "z"]);
    await untilAssigned(driver, two);
    await driver.addresses.retain(two, []);
  }
  expect(cluster.contested).toEqual(new Set());
});

test("an address that migrates twice at once leads to the last lease alone", async () => {
  const [one, two, three] = [sampleLease(), sampleLease(), sampleLease()];
  const driver = await open(
    SETTINGS,
    slowClient(two, () => leadsTo(three), three),
  );
  await deploy(driver, one, "mine");
  for (const id of [two, three]) await driver.deploy(specOf(id, ["mine"]));
  await untilAssigned(driver, one);
  await Promise.all([driver.addresses.migrate(two, ["mine"]), driver.addresses.migrate(three, ["mine"])]);
  await untilAssigned(driver, three);
  expect(leading()).toEqual([`${POOL[0]} ${leaseNamespace(three)}`]);
  expect(cluster.contested).toEqual(new Set());
});

test("groups of one deployment share an address over restarts, and what leads to one that ends goes alone", async () => {
  let driver = await open();
  const one = sampleLease();
  const two = { ...one, gseq: 2 };
  await deploy(driver, one, "mine");
  const expose = [sampleExpose({ ip: "mine", endpointSequenceNumber: 1, externalPort: 8080 })];
  const { group } = sampleSpec([sampleService("localhost/web:1", { expose })]);
  await driver.addresses.claim(two, ["mine"]);
  await driver.deploy(sampleSpec(group.services, { id: two, ports: await driver.ports.assign(two, group) }));
  await untilAssigned(driver, two);
  expect([recorded(), leading()]).toEqual([
    [`${POOL[0]} ${one.owner}/${one.dseq}`],
    [one, two].map((id) => `${POOL[0]} ${leaseNamespace(id)}`).sort(),
  ]);
  const { since } = Object(cluster.server.objects(RECORDS)[0]).spec;
  await driver.close();
  driver = await open();
  expect(driver.addresses.holdersOf(one.owner, "mine")).toEqual([one, two]);
  await driver.addresses.retain(one, []);
  await vi.waitFor(() => expect(leading()).toEqual([`${POOL[0]} ${leaseNamespace(two)}`]), 30_000);
  expect(Object(cluster.server.objects(RECORDS)[0]).spec).toMatchObject({ gseq: 2, since });
  await driver.teardown(two);
  expect([recorded(), leading()]).toEqual([[], []]);
});

test("an address that migrates leaves all groups of the deployment that had it", async () => {
  const driver = await open();
  const [one, other] = [sampleLease(), sampleLease()];
  const two = { ...one, gseq: 2 };
  for (const id of [one, two, other]) await deploy(driver, id, "mine");
  await untilAssigned(driver, one);
  await driver.addresses.migrate(other, ["mine"]);
  await untilAssigned(driver, other);
  await vi.waitFor(() => expect(leading()).toEqual([`${POOL[0]} ${leaseNamespace(other)}`]), 30_000);
  expect(cluster.contested).toEqual(new Set());
});

test("a hundred deployments, migrations and ends at once, with restarts between, share addresses with sisters alone", async () => {
  const rng = seedFrom("SVC_TEST_SEED");
  let driver = await open();
  const firsts = Array.from({ length: 4 }, (_, at) => ({ ...sampleLease(), owner: `svc1owner${at % 2}` }));
  const ids = [...firsts, ...firsts.slice(0, 2).map((id) => ({ ...id, gseq: 2 }))];
  for (let round = 0; round < 25; round++) {
    const steps = Array.from({ length: 4 }, () => step(driver, rng, ids[rng.below(ids.length)] ?? sampleLease()));
    await Promise.allSettled(steps);
    const held = ids.flatMap((id) => driver.addresses.heldBy(id).map((name) => `${id.owner}/${name}`));
    expect(cluster.server.objects(RECORDS)).toHaveLength(new Set(held).size);
    expect(cluster.contested).toEqual(new Set());
    if (rng.below(5) > 0) continue;
    await driver.close();
    driver = await open();
    expect(ids.flatMap((id) => driver.addresses.heldBy(id).map((name) => `${id.owner}/${name}`)).sort()).toEqual(
      held.sort(),
    );
  }
  await driver.purge();
  expect([recorded(), leading()]).toEqual([[], []]);
}, 120_000);

async function step(driver: ClusterDriver, rng: Rng, id: LeaseKey): Promise<void> {
  const names = ["game", "voice"].filter(() => rng.below(3) > 0);
  const kind = rng.below(4);
  if (kind < 2) return deploy(driver, id, ...names);
  if (kind === 2) return driver.addresses.migrate(id, names);
  return driver.teardown(id, 9n);
}
