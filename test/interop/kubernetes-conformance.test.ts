import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterConformance } from "../../src/provider/cluster/contract/conformance/index.ts";
import type { ClusterDriver } from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { Fixture, waitFor } from "../support/index.ts";
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
/** Node ports of the first case; each has as many of its own. */
const FIRST_PORT = 30_000;
const PORTS = 100;
let config = elsewhere ?? "";

beforeAll(async () => {
  if (programs !== undefined && !("missing" in programs))
    ({ config } = await TestKubernetesNode.start(fixture, programs));
});

afterAll(async () => {
  await fixture.close();
});

it("the programs of a node are there", ({ skip }) => {
  if (missing !== undefined && process.env.CI !== "true") skip(missing);
  expect(missing).toBeUndefined();
});

describe.skipIf(missing !== undefined)("the Kubernetes driver on a cluster that runs pods", () => {
  // Mostly they wait for pods to come and go, so several run beside one another, each as a provider of its own.
  for (const [number, { name, run }] of clusterConformance.entries()) {
    it.concurrent(`rule: ${name}`, async () => {
      const stateDir = fixture.tempHome(`driver-${number}`);
      const open = async (): Promise<ClusterDriver> => {
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
          timing: { removalPoll: 200 },
        });
        return withNodePorts(driver, access.server.hostname);
      };
      await run({ open, image, missingImage: "localhost/svc-no-such-image:1" });
    });
  }
});

/** The rules look for node ports on this machine, as soon as replicas are ready; nodes open them within seconds of that. */
function withNodePorts(driver: ClusterDriver, address: string): ClusterDriver {
  const [deploy, teardown] = [driver.deploy.bind(driver), driver.teardown.bind(driver)];
  const relays: Server[] = [];
  driver.deploy = async (spec) => {
    await deploy(spec);
    for (const { hostPort } of spec.ports) relays.push(await relay(hostPort, address));
  };
  driver.teardown = async (id, closedAt) => {
    await teardown(id, closedAt);
    for (const server of relays.splice(0)) server.close();
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
