import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterDriver, LeaseSpec } from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import { sampleExpose, sampleService, sampleSpec, untilHealth, untilOk } from "../support/conformance/index.ts";
import { writeImage } from "../support/image-archive.ts";
import { Fixture } from "../support/index.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { buildPeer, Peer } from "./peers.ts";

/** Restricted pods on a real kubelet, hostile ones among them, by a driver with the rights of an installation alone. */

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

/** Output of a command in the first replica. */
async function said(spec: LeaseSpec, script: string): Promise<string> {
  const request = { service: "web", replica: 0, tty: false, stdin: false, command: ["sh", "-c", script] };
  const { output } = await driver.exec(spec.id, request);
  let text = "";
  for await (const { data } of output) text += Buffer.from(data).toString();
  return text.trim();
}

test.skipIf(missing)("a hostile program has no rights, no token and no words but its own", async () => {
  const env = ["A=1", "B=$(A) $$(A) $(SVC_OWNER)", "SVC_PROVIDER=me"];
  const spec = sampleSpec([sampleService(USER, { expose: [sampleExpose()], env })]);
  await driver.deploy(spec);
  await untilOk(driver, spec.id);
  expect(await said(spec, 'echo "$B|$SVC_PROVIDER"')).toBe("$(A) $$(A) $(SVC_OWNER)|me");
  expect(await said(spec, "ls /var/run/secrets /run/secrets 2> /dev/null | wc -l")).toBe("0");
  const status = await said(spec, "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/1/status | tr -s '\\t ' ' '");
  const none = "0000000000000000";
  expect(status.split("\n")).toEqual([
    ...["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map((set) => `${set}: ${none}`),
    "NoNewPrivs: 1",
    "Seccomp: 2",
  ]);
  // It sees its own processes, and neither changes settings of the kernel nor makes devices.
  expect(await said(spec, "ls /proc | grep -c '^[0-9]'")).toMatch(/^[1-5]$/);
  const tries = ["echo 1 > /proc/sys/kernel/panic", "mknod /tmp/sda b 8 0", "mount -t tmpfs x /mnt", "chroot / true"];
  for (const each of tries)
    expect(await said(spec, `(${each}) 2> /dev/null && echo done || echo refused`)).toBe("refused");
  await driver.teardown(spec.id);
});

test.skipIf(missing)(
  "programs that want more memory or disk than they have end, and their neighbours go on",
  async () => {
    const neighbour = sampleSpec([sampleService(USER, { expose: [sampleExpose()] })]);
    const greedy = (script: string) =>
      sampleSpec([sampleService(USER, { command: ["sh", "-c"], args: [script], expose: [] })]);
    const memory = greedy("sleep 2; tail /dev/zero");
    const disk = greedy("sleep 2; dd if=/dev/zero of=/tmp/big bs=1M count=200; sleep 1000");
    for (const spec of [neighbour, memory, disk]) await driver.deploy(spec);
    const errorOf = async (spec: LeaseSpec, text: RegExp) =>
      untilHealth(driver, spec.id, ({ services }) => text.test(services[0]?.error ?? ""), String(text));
    await errorOf(memory, /reaching the memory limit of 64 MiB/);
    await errorOf(disk, /ephemeral.*storage.*(exceeds|exceeded)/i);
    const { health, services } = await untilOk(driver, neighbour.id);
    expect([health, services[0]?.replicas[0]?.restarts]).toEqual(["ok", 0]);
    expect((await driver.capacity()).nodes).toHaveLength(1);
    await Promise.all([neighbour, memory, disk].map(({ id }) => driver.teardown(id)));
    expect(await driver.adopt()).toEqual([]);
  },
);

test.skipIf(missing)("a program that starts processes without end gets no more than a pod may have", async () => {
  const usual = sampleService(USER, { expose: [sampleExpose()] });
  // The limit on memory does not end it.
  const service = { ...usual, resources: { ...usual.resources, memory: { size: { val: String(512 << 20) } } } };
  const [greedy, neighbour] = [sampleSpec([service]), sampleSpec([service])];
  for (const spec of [greedy, neighbour]) await driver.deploy(spec);
  for (const spec of [greedy, neighbour]) await untilOk(driver, spec.id);
  const most = TestKubernetesNode.mostProcesses;
  const script = `i=0; while [ $i -lt ${2 * most} ]; do sleep 60 > /dev/null 2>&1 & i=$((i + 1)); echo started $i; done`;
  const started = (await said(greedy, script)).split("\n").filter((line) => line.startsWith("started")).length;
  expect(started).toBeGreaterThan(most / 2);
  expect(started).toBeLessThan(most);
  expect(await said(neighbour, "sh -c 'echo has its own'")).toBe("has its own");
  for (const { id } of [greedy, neighbour]) await driver.teardown(id);
});
