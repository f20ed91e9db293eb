import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClusterDriver, endpointNames } from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import { sampleExpose, sampleLease, sampleService, sampleSpec } from "../support/conformance/index.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { TestKubernetes } from "../support/kubernetes.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { startMetalLb } from "../support/kubernetes-metallb.ts";
import { buildPeer, Peer } from "./peers.ts";

/** MetalLB's own controller with the objects for leased addresses, by the pool and annotations of the guide. */

const peers = await Promise.all([buildPeer("kubernetes"), buildPeer("metallb")]);
for (const peer of peers) if (peer instanceof Peer) peer.remove();
const missing = peers.flatMap((peer) => (peer instanceof Peer ? [] : [peer.missing])).join("; ");
const [server = "", controller = ""] = peers.map((peer) => (peer instanceof Peer ? peer.binary : ""));
const fixture = new Fixture();
const POOL = ["203.0.113.1", "203.0.113.2"];
/** The provider has it to lease, and no pool of MetalLB has it. */
const UNKNOWN = "203.0.113.9";
let driver: ClusterDriver;

beforeAll(async () => {
  if (missing !== "") return;
  const bed = await TestKubernetes.start(fixture, server);
  const admin = new KubernetesApi(readKubeconfig(bed.config));
  await installOn(admin, "svc-provider");
  admin.close();
  await startMetalLb(bed, controller, [`${POOL[0]}-${POOL[1]}`]);
  driver = await openKubernetesDriver({
    api: new KubernetesApi(readKubeconfig(await bed.configOf("svc-provider", "svc-provider"))),
    objects: SETTINGS,
    stateDir: fixture.tempHome("driver"),
    leasedIps: [...POOL, UNKNOWN],
    timing: { retry: 50, maxRetry: 200, report: 50 },
  });
});

afterAll(async () => {
  await driver?.close();
  await fixture.close();
});

/** Deploys a service with these ports of the address `public`. */
async function deploy(id: LeaseKey, ...ports: readonly (readonly [number, "TCP" | "UDP"])[]): Promise<void> {
  const expose = ports.map(([port, proto]) => {
    return sampleExpose({ ip: "public", endpointSequenceNumber: 1, port, externalPort: port, proto });
  });
  const { group } = sampleSpec([sampleService("docker.io/library/web:1", { expose })]);
  await driver.addresses.claim(id, endpointNames(group));
  await driver.deploy(sampleSpec(group.services, { id, ports: await driver.ports.assign(id, group) }));
}

async function told(id: LeaseKey): Promise<string[]> {
  const { addresses = [] } = await driver.status(id);
  return addresses.map(({ address, externalPort, proto, assigned }) => {
    return `${address}:${externalPort}/${proto}${assigned ? "" : " waits"}`;
  });
}

function untilTold(id: LeaseKey, ...expected: readonly string[]): Promise<unknown> {
  return waitFor(async () => (await told(id)).join() === expected.join(), expected.join());
}

test.skipIf(missing !== "" && process.env.CI !== "true")("the controller is there", () => {
  expect(missing).toBe("");
});

test.skipIf(missing !== "")(
  "services get the addresses that they ask for, groups of one deployment the same one",
  async () => {
    const one = sampleLease();
    const [two, late] = [
      { ...one, gseq: 2 },
      { ...one, gseq: 3 },
    ];
    await deploy(one, [53, "UDP"], [8080, "TCP"]);
    await untilTold(one, `${POOL[0]}:53/UDP`, `${POOL[0]}:8080/TCP`);
    await deploy(two, [8081, "TCP"]);
    await untilTold(two, `${POOL[0]}:8081/TCP`);
    await deploy(late, [8081, "TCP"]);
    await untilTold(late, `${POOL[0]}:8081/TCP waits`);
    await driver.addresses.retain(two, []);
    await untilTold(late, `${POOL[0]}:8081/TCP`);

    const other = sampleLease();
    await deploy(other, [9000, "TCP"]);
    expect(await told(other), "one deployment has it").toEqual([]);
    await driver.addresses.migrate(other, ["public"]);
    await untilTold(other, `${POOL[0]}:9000/TCP`);
    expect([await told(one), await told(late)]).toEqual([[], []]);

    const stranger = { ...sampleLease(), owner: "svc1stranger" };
    await deploy(stranger, [80, "TCP"], [8080, "TCP"]);
    await untilTold(stranger, `${POOL[1]}:80/TCP`, `${POOL[1]}:8080/TCP`);
  },
);

test.skipIf(missing !== "")("an address that no pool of it has is reported with its own reason", async () => {
  const id = { ...sampleLease(), owner: "svc1late" };
  await deploy(id, [80, "TCP"]);
  const problem = "the provider's load balancer does not hand it out (AllocationFailed); ask the provider";
  const isTold = async () => (await driver.status(id)).addresses?.[0]?.problem === problem;
  await waitFor(isTold, "the reason");
  expect(await told(id)).toEqual([`${UNKNOWN}:80/TCP waits`]);
});
