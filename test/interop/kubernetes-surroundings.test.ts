import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ClusterDriver,
  type LeaseHealth,
  type LeaseSpec,
  leaseNamespace,
} from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import { kubernetesCluster } from "../../src/provider/cluster/kubernetes/kind.ts";
import { KIND, type ObjectSettings } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import type { ManifestService } from "../../src/sdl/index.ts";
import { notedSettings, settingReader } from "../../src/util/index.ts";
import {
  execute,
  sampleExpose,
  sampleService,
  sampleSpec,
  untilHealth,
  untilOk,
  untilUpdated,
} from "../support/conformance/index.ts";
import { writeImage } from "../support/image-archive.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { REGISTRY_USER, TestRegistry } from "../support/kubernetes-registry.ts";
import { TestVolumes } from "../support/kubernetes-volumes.ts";
import { nodePrograms } from "./node-programs.ts";

/** Operators' own add-ons beside their nodes, on a real kubelet, by drivers with only the rights of an installation. */

const programs = await nodePrograms();
const missing = "missing" in programs ? programs.missing : undefined;
const fixture = new Fixture();
const IMAGE = "localhost/user:1";
const MIB = 1n << 20n;
const CLASS = "beta2";

let bed: TestKubernetesNode;
let api: KubernetesApi;
let account: string;
const drivers: ClusterDriver[] = [];

beforeAll(async () => {
  if ("missing" in programs) return;
  bed = await TestKubernetesNode.start(fixture, programs);
  const path = join(fixture.folder, "image.tar");
  await writeImage(path, IMAGE, { Cmd: ["httpd", "-f", "-p", "80", "-h", "/www"], User: "1000" });
  await bed.loadImage(path);
  api = new KubernetesApi(readKubeconfig(bed.config));
  await installOn(api, "svc-provider");
  account = await bed.control.configOf("svc-provider", "svc-provider");
});

afterAll(async () => {
  // Remaining workloads end with the node.
  for (const driver of drivers) await driver.close();
  api?.close();
  await fixture.close();
});

it("the programs of a node are there", ({ skip }) => {
  if (missing !== undefined && process.env.CI !== "true") skip(missing);
  expect(missing).toBeUndefined();
});

/** Opens a driver as a provider of its own, which has run before if the name is known. */
async function open(name: string, over: Partial<ObjectSettings> = {}): Promise<ClusterDriver> {
  const driver = await openKubernetesDriver({
    api: new KubernetesApi(readKubeconfig(account)),
    objects: { ...SETTINGS, provider: `svc1${name}`, allowLocalImages: true, stopGraceMs: 5_000, ...over },
    stateDir: join(fixture.folder, name),
  });
  drivers.push(driver);
  return driver;
}

async function closed(driver: ClusterDriver): Promise<void> {
  drivers.splice(drivers.indexOf(driver), 1);
  await driver.close();
}

/** The spec that follows when its tenant updates a lease to one service. */
function updated(spec: LeaseSpec, service: ManifestService): LeaseSpec {
  const generation = spec.generation + 1;
  const version = generation.toString(16).padStart(64, "0");
  return { ...spec, group: { ...spec.group, services: [service] }, generation, version };
}

async function errorOf(driver: ClusterDriver, { id }: LeaseSpec): Promise<string> {
  const isTold = ({ services }: LeaseHealth) => services[0]?.error !== undefined;
  return (await untilHealth(driver, id, isTold, "the reason")).services[0]?.error ?? "";
}

describe.skipIf(missing !== undefined)("a volume that outlives its pods", { concurrent: true }, () => {
  let volumes: TestVolumes;

  beforeAll(async () => {
    volumes = await TestVolumes.start(fixture, bed, { name: CLASS, bytes: 96n * MIB, offered: "1Gi" });
  });

  /** Notes there when it starts and when it is asked to end. */
  const NOTES = [
    'echo "$VERSION starts" >> /data/notes',
    `trap 'echo "$VERSION ends" >> /data/notes; exit' TERM`,
    "httpd -p 80 -h /www",
    "while :; do sleep 1 & wait $!; done",
  ].join("\n");

  function noting(version: string, { size = 16n * MIB, of = CLASS, ...over }: Volume = {}): ManifestService {
    const attributes = [
      { key: "class", value: of },
      { key: "persistent", value: "true" },
    ];
    const { resources } = sampleService(IMAGE);
    return sampleService(IMAGE, {
      command: ["sh", "-c"],
      args: [NOTES],
      env: [`VERSION=${version}`],
      resources: { ...resources, storage: [{ name: "data", size: { val: size.toString() }, attributes }] },
      params: { storage: [{ name: "data", mount: "/data", readOnly: false }] },
      expose: [sampleExpose()],
      ...over,
    });
  }

  async function notes(driver: ClusterDriver, { id }: LeaseSpec, replica = 0): Promise<string[]> {
    const command = ["cat", "/data/notes"];
    const { output } = await driver.exec(id, { service: "web", replica, command, tty: false, stdin: false });
    let text = "";
    for await (const { data } of output) text += Buffer.from(data).toString();
    return text.trim().split("\n");
  }

  it("is one for each replica, goes on through an end, an update and another daemon, and goes with the lease", async () => {
    const driver = await open("keeper");
    const spec = sampleSpec([noting("first", { count: 2 })]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    await execute(driver, spec.id, { service: "web", command: ["kill", "1"] });
    const begun = ["first starts", "first ends", "first starts"];
    // The cluster tells a moment later than the program that it runs again.
    const sameNotes = async () => JSON.stringify(await notes(driver, spec).catch(String)) === JSON.stringify(begun);
    await waitFor(sameNotes, "the program to start again");
    await untilOk(driver, spec.id);
    const next = updated(spec, noting("second", { count: 2 }));
    await driver.deploy(next);
    await untilUpdated(driver, spec.id, next.generation);
    await closed(driver);
    const later = await open("keeper");
    await untilOk(later, spec.id);
    // The old replica has ended before the new one starts.
    expect(await notes(later, spec, 0)).toEqual([...begun, "first ends", "second starts"]);
    expect(await notes(later, spec, 1)).toEqual(["first starts", "first ends", "second starts"]);
    const names = await volumes.of(leaseNamespace(spec.id));
    expect(names).toHaveLength(2);
    const folders = names.map((name) => join(volumes.folder, name));
    expect(folders.map((folder) => readdirSync(folder))).toEqual([["notes"], ["notes"]]);
    await later.teardown(spec.id, 5n);
    await waitFor(() => !folders.some((folder) => existsSync(folder)), "the data to be gone");
    await waitFor(async () => (await volumes.of(leaseNamespace(spec.id))).length === 0, "the volumes to be gone");
  });

  it("does not grow by an update, which its tenant reads; it is there for the next, also after one that cannot start", async () => {
    const driver = await open("grower");
    // The cluster's own choice, which is the same class here.
    const usual = (version: string, more: Volume = {}) => noting(version, { of: "default", ...more });
    const spec = sampleSpec([usual("first")]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    const larger = updated(spec, usual("larger", { size: 32n * MIB }));
    await driver.deploy(larger);
    const VOLUMES_STAY = /^the cluster cannot change the volumes of an existing service: write them as they were/;
    expect(await errorOf(driver, larger)).toMatch(VOLUMES_STAY);
    expect(await notes(driver, spec)).toEqual(["first starts"]);
    const broken = updated(larger, usual("broken", { image: "localhost/no-such:1" }));
    await driver.deploy(broken);
    await untilHealth(
      driver,
      spec.id,
      ({ services: [web] }) => /no-such/.test(web?.error ?? ""),
      "the image to be missed",
    );
    const mended = updated(broken, usual("mended"));
    await driver.deploy(mended);
    await untilUpdated(driver, spec.id, mended.generation);
    expect(await notes(driver, spec)).toEqual(["first starts", "first ends", "mended starts"]);
    expect(await driver.status(spec.id)).toMatchObject({ health: "ok" });
  });

  it("that nobody makes is reported to its tenant, with the reason of those who should", async () => {
    const driver = await open("waiter");
    expect((await driver.capacity()).storage).toEqual([{ classes: [CLASS, "default"], bytes: 1024n * MIB }]);
    const [wide, foreign] = [
      sampleSpec([noting("wide", { size: 97n * MIB })]),
      sampleSpec([noting("x", { of: "none" })]),
    ];
    await driver.deploy(wide);
    await driver.deploy(foreign);
    expect(await errorOf(driver, wide)).toMatch(
      /^web-0: the cluster does not make its volume "data": .*: not enough free space$/,
    );
    await untilHealth(
      driver,
      foreign.id,
      ({ services: [web] }) => /"none" not found/.test(web?.error ?? ""),
      "the class to be missed",
    );
    expect(await errorOf(driver, foreign)).toMatch(
      /^web-0: the cluster does not make its volume "data": storageclass\.[^ ]+ "none" not found$/,
    );
  });
});

interface Volume extends Partial<ManifestService> {
  readonly size?: bigint;
  /** Its storage class. */
  readonly of?: string;
}

describe.skipIf(missing !== undefined)("a runtime class", { concurrent: true }, () => {
  const runtime = TestKubernetesNode.runtime;
  const page = () => sampleSpec([sampleService(IMAGE)]);

  async function look(name: string): Promise<string> {
    const settings = notedSettings({ clusterconfig: account, "cluster-ingress": "provider" });
    const offer = { runtime: name, record: async () => ({ attributes: [] }) };
    const checks = await kubernetesCluster.configure(settingReader(settings)).checks(offer);
    return checks.find((check) => check.name === "runtime class")?.look() ?? "";
  }

  it("is what the pods of leases run with", async () => {
    await api.apply(KIND.runtimeClass, { metadata: { name: runtime }, ...{ handler: runtime } });
    expect(await look(runtime)).toBe(runtime);
    const driver = await open("second", { runtime });
    expect(await driver.obstacle()).toBeUndefined();
    const spec = page();
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    // The pod's own container and its program's.
    expect((await bed.room.run("ls", [`/run/${runtime}/k8s.io`])).trim().split("\n")).toHaveLength(2);
  });

  it("that is missing keeps the provider from bidding, and a tenant reads it", async () => {
    const sentence = /no RuntimeClass "nowhere".*create it, or change --cluster-runtime-class/;
    await expect(look("nowhere")).rejects.toThrow(/no RuntimeClass "nowhere"/);
    const driver = await open("nowhere", { runtime: "nowhere" });
    expect((await driver.obstacle())?.text).toMatch(sentence);
    const spec = page();
    await driver.deploy(spec);
    expect(await errorOf(driver, spec)).toMatch(
      /^the cluster does not create a replica: .*RuntimeClass "nowhere" not found/,
    );
  });

  it("whose runtime a node lacks is reported to the tenant without the node's own words", async () => {
    await api.apply(KIND.runtimeClass, { metadata: { name: "absent" }, ...{ handler: "absent" } });
    const driver = await open("absent", { runtime: "absent" });
    const spec = page();
    await driver.deploy(spec);
    const sentence = 'web-0: the node lacks the runtime "absent" that the provider runs leases on; ask the provider';
    expect(await errorOf(driver, spec)).toBe(sentence);
  });
});

describe.skipIf((missing ?? TestRegistry.missing()) !== undefined)("a registry", { concurrent: true }, () => {
  let driver: ClusterDriver;

  beforeAll(async () => {
    const registry = await TestRegistry.start(fixture, bed);
    for (const tag of ["1", "2"]) await registry.push("team/app", tag);
    driver = await open("puller", { allowLocalImages: false });
  });

  const service = (registry: string, { tag = "1", password }: { tag?: string; password?: string } = {}) =>
    sampleService(`${registry}/team/app:${tag}`, {
      credentials: password === undefined ? null : { host: registry, email: "", ...REGISTRY_USER, password },
    });

  const tagOf = async ({ id }: LeaseSpec) =>
    (await execute(driver, id, { service: "web", command: ["sh", "-c", "echo $TAG"] })).stdout.trim();

  it("gives a lease its image, and the next one when it is updated", async () => {
    const spec = sampleSpec([service(TestRegistry.open)]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    expect(await tagOf(spec)).toBe("1");
    const next = updated(spec, service(TestRegistry.open, { tag: "2" }));
    await driver.deploy(next);
    await untilUpdated(driver, spec.id, next.generation);
    // The old replica ends when the new one is ready.
    await waitFor(async () => (await tagOf(spec)) === "2", "the next image");
  });

  it("gives an image to whose credentials it takes, and to no neighbor of theirs on the node", async () => {
    const { password } = REGISTRY_USER;
    const owner = sampleSpec([service(TestRegistry.closed, { password })]);
    await driver.deploy(owner);
    await untilOk(driver, owner.id);
    expect(await tagOf(owner)).toBe("1");
    const sentence = `web-0: the registry does not give out the image ${TestRegistry.closed}/team/app:1: check its name`;
    for (const given of [{}, { password: "battery staple" }]) {
      const stranger = sampleSpec([service(TestRegistry.closed, given)]);
      await driver.deploy(stranger);
      const error = await errorOf(driver, stranger);
      expect(error).toContain(sentence);
      expect(error).not.toContain("battery");
    }
  });

  it("that lacks an image or does not answer is reported to the tenant", async () => {
    const lacking = sampleSpec([service(TestRegistry.open, { tag: "3" })]);
    const silent = sampleSpec([service(TestRegistry.gone)]);
    for (const spec of [lacking, silent]) await driver.deploy(spec);
    expect(await errorOf(driver, lacking)).toMatch(/app:3 does not exist in its registry: check name and tag$/);
    expect(await errorOf(driver, silent)).toMatch(/app:1 does not answer over TLS: check its name$/);
  });
});
