/**
 * A provider on a cluster of a thousand nodes, with a thousand leases: the API server, storage, controllers and scheduler of
 * Kubernetes, and simulated nodes whose pods are ready at once.
 *
 *   npm run bench -- kubernetes [nodes] [leases]
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterDriver, LeaseSpec } from "../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../src/provider/cluster/kubernetes/api/api.ts";
import { openKubernetesDriver } from "../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../src/provider/cluster/kubernetes/install/index.ts";
import { Inventory } from "../src/provider/inventory/index.ts";
import { Semaphore } from "../src/util/index.ts";
import { buildPeer, Peer, type PeerName } from "../test/interop/peers.ts";
import { sampleLease, sampleService, sampleSpec } from "../test/support/conformance/index.ts";
import { Fixture, waitFor } from "../test/support/index.ts";
import { TestKubernetes } from "../test/support/kubernetes.ts";
import { SETTINGS } from "../test/support/kubernetes-leases.ts";
import { Report } from "./lib/report.ts";

const PATIENCE = { timeoutMs: 900_000, pollMs: 100 };
/** Calls that go on beside one another. */
const AT_ONCE = 16;
/** Leases that come up together, and orders that are counted together. */
const PARTS = 4;

const [nodes = 1_000, leases = 1_000] = process.argv.slice(2).map(Number);
const fixture = new Fixture();
const method =
  `etcd, API server, controllers and scheduler of Kubernetes 1.34.4 and ${nodes} nodes simulated by kwok, all on this machine ` +
  "(code of Kubernetes unoptimised); the driver, its client and the inventory in one process with the bench, whose processor time is counted.";
const report = new Report("kubernetes", method);
const stateDir = fixture.tempHome("driver");
let driver: ClusterDriver | undefined;
try {
  const config = await simulated();
  driver = await timeToInventory(config);
  await bidding(driver);
  const specs = await lead(driver);
  await change(driver, specs);
  driver = await restart(config, driver, specs);
  await end(driver, specs);
  report.save();
} finally {
  await driver?.close();
  await fixture.close();
}

async function programOf(name: PeerName): Promise<string> {
  const peer = await buildPeer(name);
  if (!(peer instanceof Peer)) throw new Error(`this benchmark needs ${name}: ${peer.missing}`);
  peer.remove();
  return peer.binary;
}

/** Resolves with the configuration of a cluster whose nodes are all ready. */
async function simulated(): Promise<string> {
  const [server, node, kwok] = [
    await programOf("kubernetes"),
    await programOf("kubernetes-node"),
    await programOf("kwok"),
  ];
  const bed = await TestKubernetes.start(fixture, server);
  const { config } = bed;
  const access = [`--kubeconfig=${config}`, `--authentication-kubeconfig=${config}`];
  const common = [...access, `--authorization-kubeconfig=${config}`, "--bind-address=127.0.0.1", "--secure-port=0"];
  const rates = ["--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000"];
  bed.run("kube-controller-manager", [
    ...[node, "kube-controller-manager", ...common, ...rates],
    ...[`--root-ca-file=${bed.certificate}`, `--service-account-private-key-file=${bed.accountsKey}`],
    ...["--concurrent-deployment-syncs=16", "--concurrent-replicaset-syncs=16", "--concurrent-namespace-syncs=16"],
    // On a busy machine simulated nodes are late with their signs of life, and do not make their pods ready again.
    "--node-monitor-grace-period=1h",
  ]);
  bed.run("kube-scheduler", [node, "kube-scheduler", ...common, ...rates]);
  bed.run("kwok", [kwok, `--kubeconfig=${config}`, "--manage-all-nodes=true"]);
  const capacity = { cpu: "32", memory: "128Gi", "ephemeral-storage": "1Ti", pods: "110" };
  const made = new Semaphore(AT_ONCE);
  await Promise.all(
    Array.from({ length: nodes }, (_, index) =>
      made.run(async () => {
        const metadata = { name: `node-${index}`, labels: { "kubernetes.io/hostname": `node-${index}` } };
        const object = { metadata, status: { capacity, allocatable: capacity } };
        const { status, text } = await bed.call("POST", "/api/v1/nodes", { type: "application/json", object });
        if (status !== 201) throw new Error(`a node is refused: ${text}`);
      }),
    ),
  );
  const api = new KubernetesApi(readKubeconfig(config));
  await installOn(api, "svc-provider").finally(() => api.close());
  for (const part of ["kube-controller-manager", "kube-scheduler", "kwok"]) bed.mustRun(part);
  return config;
}

async function open(config: string): Promise<ClusterDriver> {
  const api = new KubernetesApi(readKubeconfig(config));
  return openKubernetesDriver({ api, objects: SETTINGS, stateDir, timing: { removalPoll: 1_000 } });
}

async function timeToInventory(config: string): Promise<ClusterDriver> {
  const memory = residentMiB();
  const first = await open(config);
  await waitFor(async () => (await first.capacity()).nodes.length === nodes, "all nodes", PATIENCE);
  await first.close();
  const [begun, cpu] = [performance.now(), cpuMs()];
  const opened = await open(config);
  const seen = (await opened.capacity()).nodes.length;
  report.add({ name: `inventory of ${seen} nodes: time`, unit: "ms", samples: [performance.now() - begun] });
  report.add({ name: "inventory: processor time", unit: "ms", samples: [cpuMs() - cpu] });
  report.add({
    name: "inventory: memory of the process, beside what it had before",
    unit: "MiB",
    samples: [residentMiB() - memory],
  });
  return opened;
}

/** Orders of one replica each; a node holds a hundred. */
async function bidding(cluster: ClusterDriver): Promise<void> {
  const ledger = { record: () => {}, durable: () => Promise.resolve() };
  const inventory = new Inventory({ overcommit: { cpu: 0, memory: 0, storage: 0 }, portQuantity: 1_000, ledger });
  const volumes = [{ bytes: 64n << 20n, class: "", persistent: false }];
  const need = { gpu: 0n, gpuKinds: [], volumes, endpoints: 1, ports: 0, leasedIps: [] };
  const row = { id: 1, count: 1n, cpu: 320n, memory: 256n << 20n, ...need };
  const looks: number[] = [];
  for (let at = 0; at < 20; at++) looks.push(await spent(async () => void inventory.observe(await cluster.capacity())));
  report.add({ name: `a look at the capacity of ${nodes} nodes: processor time`, unit: "ms", samples: looks });
  const orders = leases / PARTS;
  for (let part = 0; part < PARTS; part++) {
    const ms = await spent(() => {
      for (let at = 0; at < orders; at++) inventory.reserve(`order-${part}-${at}`, [row]);
    });
    const name = `an order reserved, after ${part * orders} others: processor time`;
    report.add({ name, unit: "ms", samples: [ms / orders] });
  }
}

function specOf(id = sampleLease()): LeaseSpec {
  return sampleSpec([sampleService("registry.example.com/web:1")], { id });
}

async function lead(cluster: ClusterDriver): Promise<LeaseSpec[]> {
  const specs: LeaseSpec[] = [];
  const memory = residentMiB();
  for (let part = 0; part < PARTS; part++) {
    const some = Array.from({ length: leases / PARTS }, () => specOf());
    const begun = performance.now();
    const ms = await spent(async () => {
      await all(some, (spec) => cluster.deploy(spec));
      await untilReady(cluster, some);
    });
    const after = `a lease brought up, beside ${specs.length} others`;
    report.add({ name: `${after}: processor time`, unit: "ms", samples: [ms / some.length] });
    report.add({ name: `${after}: time`, unit: "ms", samples: [(performance.now() - begun) / some.length] });
    specs.push(...some);
  }
  report.add({ name: `memory for ${leases} leases`, unit: "MiB", samples: [residentMiB() - memory] });
  await settled();
  const idle = await spent(() => sleep(10_000));
  report.add({
    name: `${leases} leases that nothing happens to: processor time a second`,
    unit: "ms",
    samples: [idle / 10],
  });
  return specs;
}

async function change(cluster: ClusterDriver, specs: LeaseSpec[]): Promise<void> {
  const samples: number[] = [];
  for (const spec of specs.slice(0, 10)) {
    const begun = performance.now();
    const services = [sampleService("registry.example.com/web:2")];
    const next = { ...spec, generation: 2, version: "11".repeat(32), group: { ...spec.group, services } };
    await cluster.deploy(next);
    await waitFor(async () => (await cluster.status(spec.id)).services[0]?.updated === 1, "the update", PATIENCE);
    samples.push(performance.now() - begun);
  }
  report.add({ name: `an update of one lease among ${leases}: time`, unit: "ms", samples });
}

/** A provider that starts again takes up what it had, and looks at all of it. */
async function restart(config: string, before: ClusterDriver, specs: readonly LeaseSpec[]): Promise<ClusterDriver> {
  await before.close();
  const [begun, cpu] = [performance.now(), cpuMs()];
  const next = await open(config);
  await untilReady(next, specs);
  report.add({
    name: `${leases} leases taken up by a new daemon: time`,
    unit: "ms",
    samples: [performance.now() - begun],
  });
  const quiet = await settled();
  report.add({ name: `${leases} leases reconciled by a new daemon: time`, unit: "ms", samples: [quiet - begun] });
  report.add({ name: "a lease reconciled: processor time", unit: "ms", samples: [(cpuMs() - cpu) / leases] });
  return next;
}

async function end(cluster: ClusterDriver, specs: readonly LeaseSpec[]): Promise<void> {
  const some = specs.slice(0, Math.min(100, specs.length));
  const ms = await spent(() => all(some, ({ id }) => cluster.teardown(id)));
  report.add({ name: `a lease removed among ${leases}: processor time`, unit: "ms", samples: [ms / some.length] });
}

async function untilReady(cluster: ClusterDriver, specs: readonly LeaseSpec[]): Promise<void> {
  const left = new Set(specs);
  await waitFor(
    async () => {
      for (const spec of left) if ((await cluster.status(spec.id)).health === "ok") left.delete(spec);
      return left.size === 0;
    },
    "all leases to be ready",
    { ...PATIENCE, pollMs: 500 },
  );
}

/** Resolves with the moment since which this process has had nothing to do. */
async function settled(): Promise<number> {
  for (let quiet = 0, since = performance.now(); ; ) {
    const ms = await spent(() => sleep(500));
    quiet = ms < 25 ? quiet + 1 : 0;
    if (quiet === 0) since = performance.now();
    if (quiet === 6) return since;
  }
}

async function all<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const some = new Semaphore(AT_ONCE);
  await Promise.all(items.map((item) => some.run(() => task(item))));
}

async function spent(task: () => void | Promise<void>): Promise<number> {
  const before = cpuMs();
  await task();
  return cpuMs() - before;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function residentMiB(): number {
  Object(globalThis).gc?.();
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) / 1_024;
}
