import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterDriver, endpointNames } from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import {
  clusterConformance,
  sampleExpose,
  sampleLease,
  sampleSpec,
  scriptService,
} from "../support/conformance/index.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { TestBalancer } from "../support/kubernetes-balancer.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { nodePrograms } from "./node-programs.ts";

/**
 * The rules of clusters against one that runs pods, of the test's own. SVC_TEST_KUBECONFIG names the configuration of another,
 * and SVC_TEST_KUBE_IMAGE an image that its nodes have: its pods must be reached from here, and node ports at the address of
 * its API server.
 */
const { SVC_TEST_KUBECONFIG: elsewhere, SVC_TEST_KUBE_IMAGE: image = TestKubernetesNode.image } = process.env;
const programs = elsewhere === undefined ? await nodePrograms() : undefined;
const missing = programs !== undefined && "missing" in programs ? programs.missing : undefined;
const fixture = new Fixture();
/** Node ports of the first case; each has as many of its own. None is above 32767, where systems choose ports of connections. */
const FIRST_PORT = 30_000;
const PORTS = 80;
let config = elsewhere ?? "";
let node: TestKubernetesNode | undefined;

beforeAll(async () => {
  if (programs === undefined || "missing" in programs) return;
  node = await TestKubernetesNode.start(fixture, programs);
  ({ config } = node);
  const api = new KubernetesApi(readKubeconfig(config));
  await installOn(api, "svc-provider");
  api.close();
  const balancer = new TestBalancer(config);
  fixture.defer(() => balancer.close());
});

/** Leasable addresses of a case. On other clusters nothing assigns any. */
function poolOf(number: number): readonly string[] {
  return [1, 2, 3].flatMap((at) => node?.balanced(4 * number + at) ?? []);
}

afterAll(async () => {
  await fixture.close();
});

it("the programs of a node are there", ({ skip }) => {
  if (missing !== undefined && process.env.CI !== "true") skip(missing);
  expect(missing).toBeUndefined();
});

/** A separate provider, with its own ports and addresses. */
async function open(number: number, stateDir: string): Promise<ClusterDriver> {
  const access = readKubeconfig(config);
  const driver = await openKubernetesDriver({
    api: new KubernetesApi(access, { pauseMs: 50, maxPauseMs: 500 }),
    objects: {
      ...SETTINGS,
      provider: `svc1provider-${number}`,
      allowLocalImages: true,
      podSecurity: "baseline",
      stopGraceMs: 1_000,
    },
    stateDir,
    nodePorts: { first: FIRST_PORT + number * PORTS, last: FIRST_PORT + (number + 1) * PORTS - 1 },
    leasedIps: poolOf(number),
  });
  return withNodePorts(driver, access.server.hostname);
}

describe.skipIf(missing !== undefined)("the Kubernetes driver on a cluster that runs pods", () => {
  // Mostly they wait for pods to come and go, so several run beside one another, each as its own provider.
  for (const [number, { name, run }] of clusterConformance.entries()) {
    it.concurrent(`rule: ${name}`, async () => {
      const stateDir = fixture.tempHome(`driver-${number}`);
      await run({ open: () => open(number, stateDir), image, missingImage: "localhost/svc-no-such-image:1" });
    });
  }
});

describe.skipIf(missing !== undefined || elsewhere !== undefined)("an address of a lease's own", () => {
  it("answers from outside with the page of the lease that has it, before and after it migrates", async () => {
    const number = clusterConformance.length;
    const driver = await open(number, fixture.tempHome(`driver-${number}`));
    const [one, two] = [sampleLease(), sampleLease()];
    const url = `http://${poolOf(number)[0]}:8080/`;
    await deployPage(driver, one, "one");
    await deployPage(driver, two, "two");
    await waitFor(async () => (await pageOf(url)) === "one\n", "the page of the first");
    await waitFor(async () => (await driver.status(two)).health === "ok", "the second to be ready");
    expect(await pageOf(url), "it is still the first's").toBe("one\n");
    await driver.addresses.migrate(two, ["public"]);
    await waitFor(async () => (await pageOf(url)) === "two\n", "the page of the second");
    await driver.teardown(one);
    expect(await pageOf(url)).toBe("two\n");
    await driver.teardown(two);
    await waitFor(async () => (await pageOf(url)) === undefined, "the address to be silent");
    await driver.close();
  });
});

/** A lease whose address, if it gets it, leads to a page with the text. */
async function deployPage(driver: ClusterDriver, id: LeaseKey, text: string): Promise<void> {
  const script = `mkdir /tmp/www && echo ${text} > /tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www`;
  const expose = [sampleExpose({ port: 8080, externalPort: 8080, ip: "public", endpointSequenceNumber: 1 })];
  const { group } = sampleSpec([scriptService(image, script, { expose })]);
  const ports = await driver.ports.assign(id, group);
  await driver.addresses.claim(id, endpointNames(group));
  await driver.deploy(sampleSpec(group.services, { id, ports }));
}

/** Undefined without an answer. */
async function pageOf(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(20_000), headers: { connection: "close" } });
    return await answer.text();
  } catch {
    return undefined;
  }
}

/** The rules look for node ports on this machine, as soon as replicas are ready; nodes open them within seconds of that. */
function withNodePorts(driver: ClusterDriver, address: string): ClusterDriver {
  const [deploy, teardown] = [driver.deploy.bind(driver), driver.teardown.bind(driver)];
  const relays = new Map<number, Server>();
  driver.deploy = async (spec) => {
    await deploy(spec);
    for (const { hostPort } of spec.ports) {
      if (!relays.has(hostPort)) relays.set(hostPort, await relay(hostPort, address));
    }
  };
  driver.teardown = async (id, closedAt) => {
    await teardown(id, closedAt);
    for (const server of relays.values()) server.close();
    relays.clear();
  };
  return driver;
}

async function relay(port: number, host: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    const opened = await waitFor(() => opening(port, host), "the node port");
    socket.pipe(opened).pipe(socket);
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  return server;
}

function opening(port: number, host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, allowHalfOpen: true }, () => resolve(socket)).once("error", reject);
  });
}
