import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  sampleExpose,
  sampleService,
  sampleSpec,
  untilHealth,
  untilOk,
} from "../../src/provider/cluster/contract/conformance/index.ts";
import type { ClusterDriver } from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import { writeImage } from "../support/image-archive.ts";
import { Fixture } from "../support/index.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { buildPeer, Peer } from "./peers.ts";

/** Restricted pods on a real kubelet, by a driver with the rights of an installation alone. */

const peers = await Promise.all([buildPeer("kubernetes"), buildPeer("kubernetes-node"), buildPeer("containerd")]);
const built = peers.filter((peer) => peer instanceof Peer);
const missing = built.length < peers.length || process.getuid?.() !== 0;
const fixture = new Fixture();
const USER = "localhost/user:1";
const WORD = "localhost/word:1";
const SERVE = ["httpd", "-f", "-p", "80", "-h", "/www"];

let bed: TestKubernetesNode;
let driver: ClusterDriver;

beforeAll(async () => {
  if (missing) return;
  const [server, node, containers] = built.map(({ binary }) => binary) as [string, string, string];
  bed = await TestKubernetesNode.start(fixture, { server, node, containers });
  for (const [name, user] of [
    [USER, "1000"],
    [WORD, "user"],
  ] as const) {
    const path = join(fixture.folder, `user-${user}.tar`);
    await writeImage(path, name, { Cmd: SERVE, User: user });
    await bed.loadImage(path);
  }
  const api = new KubernetesApi(readKubeconfig(bed.config));
  await installOn(api, "svc-provider").finally(() => api.close());
  const account = await bed.control.configOf("svc-provider", "svc-provider");
  driver = await openKubernetesDriver({
    api: new KubernetesApi(readKubeconfig(account)),
    objects: { ...SETTINGS, allowLocalImages: true, stopGraceMs: 1_000 },
    stateDir: fixture.tempHome("driver"),
    timing: { removalPoll: 200 },
  });
});

afterAll(async () => {
  await driver?.purge();
  await driver?.close();
  for (const peer of built) peer.remove();
  await fixture.close();
});

test.skipIf(missing && process.env.CI !== "true")("the programs are there", () => {
  expect(peers.map((peer) => (peer instanceof Peer ? "" : peer.missing))).toEqual(["", "", ""]);
});

test.skipIf(missing)("an image with a user of its own serves a port below 1024, and ends", async () => {
  const service = sampleService(USER, { expose: [sampleExpose()] });
  const spec = sampleSpec([service]);
  await driver.deploy(spec);
  await untilOk(driver, spec.id);
  const request = { service: service.name, replica: 0, tty: false, stdin: false };
  const id = await driver.exec(spec.id, { ...request, command: ["sh", "-c", "id -u; wget -qO- http://127.0.0.1:80/"] });
  let text = "";
  for await (const { data } of id.output) text += Buffer.from(data).toString();
  expect([text, await id.exitCode]).toEqual(["1000\nIt runs.\n", 0]);
  await driver.teardown(spec.id, 5n);
  expect(await driver.adopt()).toEqual([]);
});

test.skipIf(missing).for([
  [TestKubernetesNode.image, /: the image runs as root, which this provider does not allow: /],
  [WORD, /: the image names its user "user" by a word, which may be root: /],
] as const)("the tenant of %s reads what to change", async ([image, sentence]) => {
  const spec = sampleSpec([sampleService(image, { expose: [sampleExpose()] })]);
  await driver.deploy(spec);
  const health = await untilHealth(driver, spec.id, ({ services }) => services[0]?.error !== undefined, "the reason");
  expect(health.services[0]?.error).toMatch(sentence);
  expect(health.health).toBe("bad");
  await driver.teardown(spec.id);
});
