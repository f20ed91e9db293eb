import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  httpOver,
  sampleExpose,
  sampleService,
  sampleSpec,
  statusOf,
  untilOk,
} from "../../../../test/support/conformance/index.ts";
import { waitFor } from "../../../../test/support/index.ts";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";
import { SETTINGS } from "../../../../test/support/kubernetes-leases.ts";
import type { ClusterDriver } from "../contract/index.ts";
import { openKubernetesDriver } from "./driver.ts";

const IMAGE = "docker.io/library/web:1";
const service = sampleService(IMAGE, { count: 2, expose: [sampleExpose(), sampleExpose({ externalPort: 9000 })] });

let cluster: KubernetesDouble;
let stateDir: string;
let driver: ClusterDriver;

beforeEach(async () => {
  // The ports of its nodes differ from this machine's.
  cluster = await KubernetesDouble.start({ nodeAddress: "127.0.0.9" });
  stateDir = mkdtempSync(join(tmpdir(), "svc-kubernetes-"));
  driver = await open();
});

afterEach(async () => {
  await driver.close();
  await cluster.close();
  rmSync(stateDir, { recursive: true, force: true });
});

function open(): Promise<ClusterDriver> {
  const api = cluster.server.client();
  return openKubernetesDriver({ api, objects: SETTINGS, stateDir, forwards: true, timing: { removalPoll: 10 } });
}

async function deployed() {
  const spec = sampleSpec([service]);
  const ports = await driver.ports.assign(spec.id, spec.group);
  driver.ports.hold(spec.id, ports);
  const whole = { ...spec, ports };
  await driver.deploy(whole);
  await untilOk(driver, spec.id);
  return { ...whole, hostPort: ports[0]?.hostPort ?? 0 };
}

function backends(spec: Pick<ReturnType<typeof sampleSpec>, "id">): readonly string[] {
  const { routing } = driver;
  if (routing.ingress !== "provider") throw new Error("the ingress is the provider's");
  return routing.backends(spec.id, "web", 80);
}

/** Whether nothing listens there, which is more than that nothing answers. */
function isClosed(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`http://${address}`);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
  });
}

test("each replica has a port of this machine, of which those who watch hear", async () => {
  const told: string[] = [];
  const { routing } = driver;
  if (routing.ingress === "provider") routing.watch((id) => told.push(String(id.dseq)));
  const spec = await deployed();
  const before = told.length;
  expect(backends(spec)).toEqual([]);
  const both = await waitFor(() => backends(spec).length === 2 && backends(spec), "two ports");
  expect(told.length).toBeGreaterThan(before);
  expect(new Set(both).size).toBe(2);
  for (const address of both) {
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(await statusOf(`http://${address}/`)).toBe(200);
  }
});

test("a node port leads to the replicas, also for a provider that starts again", async () => {
  const { hostPort } = await deployed();
  for (let time = 0; time < 3; time++) expect(await httpOver(hostPort)).toMatch(/^HTTP\/1\.1 200/);
  await driver.close();
  await expect(httpOver(hostPort)).rejects.toThrow();
  driver = await open();
  expect(await waitFor(() => httpOver(hostPort), "the node port")).toMatch(/^HTTP\/1\.1 200/);
});

test("ports of pods that are gone close, and with the lease all of them", async () => {
  const { hostPort, ...spec } = await deployed();
  const [first = ""] = await waitFor(() => backends(spec).length === 2 && backends(spec), "two ports");
  await driver.deploy({
    ...spec,
    generation: 2,
    version: "ab".repeat(32),
    group: { ...spec.group, services: [{ ...service, env: ["A=1"] }] },
  });
  await waitFor(() => isClosed(first), "the port of the first pod to close");
  const others = await waitFor(() => backends(spec).length === 2 && backends(spec), "ports of the new pods");
  await driver.teardown(spec.id);
  for (const address of [...others, `127.0.0.1:${hostPort}`]) {
    expect(await isClosed(address)).toBe(true);
  }
});

test("ports that a program of this machine has are not given out", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await driver.close();
  driver = await openKubernetesDriver({
    api: cluster.server.client(),
    objects: SETTINGS,
    stateDir,
    forwards: true,
    nodePorts: { first: port, last: port },
  });
  const spec = sampleSpec([service]);
  await expect(driver.ports.assign(spec.id, spec.group)).rejects.toThrow(/are taken/);
  await new Promise((resolve) => server.close(resolve));
});

test("connections end where the API server does not answer, and come again with it", async () => {
  const spec = await deployed();
  const [address = ""] = await waitFor(() => backends(spec).length === 2 && backends(spec), "two ports");
  cluster.server.refusal = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
  await expect(statusOf(`http://${address}/`)).rejects.toThrow();
  cluster.server.refusal = undefined;
  expect(await statusOf(`http://${address}/`)).toBe(200);
});
