import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { statusOf, untilHealth, untilOk } from "../../../test/support/conformance/index.ts";
import { onChain, sampleDeployment, sampleFile } from "../../../test/support/provider/deployment.ts";
import { type HarnessOptions, LeaseHarness, leaseOf, STRANGER, TENANT } from "../../../test/support/provider/leases.ts";
import { loadSdl } from "../../sdl/index.ts";
import { evenClock } from "../../util/index.ts";
import { formatLeaseId } from "../../wire/index.ts";
import { clusterErrors, leaseNamespace } from "../cluster/index.ts";
import { HOST_REASONS } from "../reasons.ts";

let harness: LeaseHarness | undefined;

function open(options: HarnessOptions = {}): LeaseHarness {
  harness = new LeaseHarness(options);
  return harness;
}

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

/** A lease of the sample deployment that runs. */
async function running(world: LeaseHarness, dseq = 1n, options: Parameters<typeof sampleDeployment>[0] = {}) {
  const id = leaseOf(dseq);
  const loaded = sampleDeployment(options);
  world.chain.win(id, onChain(loaded));
  world.service.leaseWon(id);
  await world.service.manifestReceived(id.owner, dseq, loaded.manifest);
  await untilOk(world.driver, id);
  await world.pass(5_000);
  return { id, loaded };
}

describe("life of a lease", () => {
  it("goes from the manifest to running, and at its end nothing is left", async () => {
    const world = open();
    const { id } = await running(world);
    expect(world.service.find(id)?.phase).toBe("running");
    expect(world.ingress.routes.hosts()).toHaveLength(1);
    await world.service.leaseClosed(id, 12n);
    await world.pass(0);
    expect(world.service.find(id)).toBeUndefined();
    expect(await world.driver.adopt()).toEqual([]);
    expect(world.ingress.routes.hosts()).toEqual([]);
    expect(readdirSync(join(world.folder, "leases"))).toEqual([]);
    expect(world.gone.map(formatLeaseId)).toEqual([formatLeaseId(id)]);
  });

  it("tells the tenant once which options the ingress does not keep", async () => {
    const world = open({ notKept: ["send_timeout"] });
    const { id } = await running(world);
    await world.restart();
    await world.pass(5_000);
    const options = { services: [], follow: false, tail: -1, signal: new AbortController().signal };
    const notes: string[] = [];
    for await (const { reason, note } of world.service.events(id, options))
      if (reason === "OptionsNotKept") notes.push(note);
    expect(notes).toEqual([
      expect.stringMatching(/^the provider's gateway does not keep http_options of service "\w+": send_timeout; /),
    ]);
  });

  it("gives the program the variables of its lease and leaves those the tenant set", async () => {
    const world = open();
    const { id } = await running(world, 1n, { env: ["SVC_OWNER=mine"] });
    const env = world.cluster.leases.get(leaseNamespace(id))?.spec.group.services[0]?.env ?? [];
    expect(env).toContain("SVC_OWNER=mine");
    expect(env).toContain("SVC_DEPLOYMENT_SEQUENCE=1");
    expect(env).toContain("SVC_CLUSTER_PUBLIC_HOSTNAME=cluster.example.com");
    expect(env.filter((entry) => entry.startsWith("SVC_OWNER"))).toHaveLength(1);
  });

  it("closes the bid when no manifest comes, counting from the time it learned of the lease", async () => {
    const world = open();
    const id = leaseOf(1n);
    world.chain.win(id, onChain(sampleDeployment()));
    world.service.leaseWon(id);
    await world.pass(200_000);
    await world.restart();
    expect(world.closed).toEqual([]);
    await world.pass(100_000);
    expect(world.closed).toEqual([{ id, reason: "manifest_timeout" }]);
  });

  it("is not given up because the time of the machine was set forward", async () => {
    const world = open({ options: { clock: evenClock } });
    const id = leaseOf(1n);
    world.chain.win(id, onChain(sampleDeployment()));
    world.service.leaseWon(id);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    try {
      await world.restart();
      // The steps of a real clock take turns of the event loop.
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 1));
      expect(world.closed).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("answers the status with names, ports and replicas", async () => {
    const world = open({ loopbackPorts: true });
    const { id } = await running(world, 1n, { nodePorts: [9000], hosts: ["www.example.org"] });
    const view = await world.service.status(id);
    const [host] = view.services.web?.uris ?? [];
    expect(view.state).toBe("running");
    expect(view.services.web).toMatchObject({ available: 1, total: 1, ready_replicas: 1, updated_replicas: 1 });
    expect(host).toMatch(/^[a-z0-9]{26}\.apps\.example\.com$/);
    expect(view.services.web?.uris).toContain("www.example.org");
    expect(view.services.web?.urls).toEqual(["http://127.0.0.1:41000/", `http://${host}/`, "http://www.example.org/"]);
    expect(view.forwarded_ports.web).toEqual([
      { host: "cluster.example.com", port: 80, externalPort: 30_000, proto: "TCP", name: "web" },
    ]);
  });
});

describe("manifests", () => {
  it("are refused when they are not the one the chain names, and nothing changes", async () => {
    const world = open();
    const { id } = await running(world);
    const other = sampleDeployment({ image: "registry.example.com/web:2" });
    await expect(world.service.manifestReceived(TENANT, 1n, other.manifest)).rejects.toThrow(/chain has [0-9a-f]{64}/);
    expect(world.service.find(id)?.generation).toBe(1);
  });

  it("are refused without an active lease of the sender", async () => {
    const world = open();
    const { id, loaded } = await running(world);
    await expect(world.service.manifestReceived(STRANGER, 1n, loaded.manifest)).rejects.toThrow(/no active lease/);
    world.chain.end(id);
    await expect(world.service.manifestReceived(TENANT, 1n, loaded.manifest)).rejects.toThrow(/no active lease/);
  });

  it("are put in force once when two arrive together", async () => {
    const world = open();
    const id = leaseOf(1n);
    const { manifest, ...loaded } = sampleDeployment();
    world.chain.win(id, onChain({ ...loaded, manifest }));
    const results = await Promise.allSettled([1, 2].map(() => world.service.manifestReceived(TENANT, 1n, manifest)));
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(world.service.find(id)?.generation).toBe(1);
  });

  it("update a lease with a new generation and keep its ports", async () => {
    const world = open();
    const { id } = await running(world, 1n, { nodePorts: [9000] });
    const ports = world.service.find(id)?.ports;
    const next = sampleDeployment({ image: "registry.example.com/web:2", nodePorts: [9000] });
    world.chain.win(id, onChain(next));
    await world.service.manifestReceived(TENANT, 1n, next.manifest);
    expect(world.service.find(id)).toMatchObject({ generation: 2, phase: "deploying", ports });
    await world.pass(30_000);
    expect(world.service.find(id)?.phase).toBe("running");
  });

  it("that the cluster can never run are refused, and the old version stays", async () => {
    const world = open();
    const { id, loaded } = await running(world);
    const before = world.service.find(id);
    const bad = sampleDeployment({
      image: "registry.example.com/web:2",
      nodePorts: [9000],
      hosts: ["www.example.org"],
    });
    world.chain.win(id, onChain(bad));
    const { deploy } = world.driver;
    world.driver.deploy = () => Promise.reject(clusterErrors.unsupported('service "web": no'));
    await expect(world.service.manifestReceived(TENANT, 1n, bad.manifest)).rejects.toThrow(/cannot run/);
    world.driver.deploy = deploy;
    expect(world.service.find(id)).toEqual(before);
    expect(world.registry.heldBy(id)).toEqual([]);
    world.chain.win(id, onChain(loaded));
    await world.service.manifestReceived(TENANT, 1n, loaded.manifest);
    expect((await world.driver.status(id)).health).toBe("ok");
  });

  it("that the cluster cannot run now are kept, reported, and tried again", async () => {
    const world = open();
    const { id } = await running(world);
    const next = sampleDeployment({ image: "registry.example.com/web:2" });
    world.chain.win(id, onChain(next));
    const { deploy } = world.driver;
    world.driver.deploy = () => Promise.reject(new Error("the disk is full"));
    await world.service.manifestReceived(TENANT, 1n, next.manifest);
    expect((await world.service.status(id)).error).toBe(HOST_REASONS.engine.tenant);
    world.driver.deploy = deploy;
    await world.pass(60_000);
    expect(await world.service.status(id)).toMatchObject({ state: "running", generation: 2 });
    expect((await world.service.status(id)).error).toBeUndefined();
  });
});

describe("host names", () => {
  it("belong to the first owner, are withheld from another deployment of his, and move on", async () => {
    const world = open();
    const first = await running(world, 1n, { hosts: ["www.example.org"] });
    const second = await running(world, 2n, { hosts: ["www.example.org"], count: 2 });
    expect(world.service.find(second.id)?.withheld).toEqual(["www.example.org"]);
    const thief = leaseOf(3n, STRANGER);
    const stolen = sampleDeployment({ hosts: ["www.example.org"] });
    world.chain.win(thief, onChain(stolen));
    await expect(world.service.manifestReceived(STRANGER, 3n, stolen.manifest)).rejects.toThrow(/in use/);
    expect(world.service.find(thief)?.phase).toBe("awaiting");
    await world.service.leaseClosed(first.id, 9n);
    await world.pass(0);
    expect(world.service.find(second.id)).toMatchObject({
      withheld: [],
      hosts: { web: [expect.any(String), "www.example.org"] },
    });
    expect(world.ingress.routes.find("www.example.org")?.lease.dseq).toBe(2n);
  });

  it("must be given where the provider makes none", async () => {
    const world = open({ settings: { staticHosts: false } });
    const id = leaseOf(1n);
    const loaded = sampleDeployment();
    world.chain.win(id, onChain(loaded));
    await expect(world.service.manifestReceived(TENANT, 1n, loaded.manifest)).rejects.toThrow(/must have a hostname/);
  });
});

describe("ports", () => {
  it("are those of the lease over restarts, and nobody else's", async () => {
    const world = open();
    const one = await running(world, 1n, { nodePorts: [9000, 9001] });
    await world.restart();
    const two = await running(world, 2n, { nodePorts: [9000], count: 2 });
    const ports = [one, two].flatMap(({ id }) => world.service.find(id)?.ports.map(({ hostPort }) => hostPort));
    expect(ports).toEqual([30_000, 30_001, 30_002]);
  });

  it("run out with a clear refusal that takes nothing", async () => {
    const world = open({ cluster: { nodePorts: { first: 40_000, last: 40_000 } } });
    const id = leaseOf(1n);
    const loaded = sampleDeployment({ nodePorts: [9000, 9001] });
    world.chain.win(id, onChain(loaded));
    await expect(world.service.manifestReceived(TENANT, 1n, loaded.manifest)).rejects.toThrow(/no host port/);
    const fits = await running(world, 2n, { nodePorts: [9000] });
    expect(world.service.find(fits.id)?.ports[0]?.hostPort).toBe(40_000);
  });
});

it("node ports that are too few for all groups of a deployment are taken by none", async () => {
  const world = open({ cluster: { nodePorts: { first: 40_000, last: 40_000 } } });
  const sample = JSON.parse(sampleFile({ nodePorts: [9000], job: "serve" }));
  sample.services.job = { image: sample.services.web.image, expose: [{ port: 80, as: 9001, to: [{ global: true }] }] };
  sample.profiles.placement.there = sample.profiles.placement.here;
  sample.deployment.job = { there: sample.deployment.job.here };
  const loaded = loadSdl(JSON.stringify(sample));
  const both = [leaseOf(1n), { ...leaseOf(1n), gseq: 2 }];
  for (const id of both) world.chain.win(id, onChain(loaded));
  await expect(world.service.manifestReceived(TENANT, 1n, loaded.manifest)).rejects.toThrow(/no host port/);
  expect(both.map((id) => world.service.find(id)?.group)).toEqual([null, null]);
  const fits = await running(world, 2n, { nodePorts: [9000] });
  expect(world.service.find(fits.id)?.ports[0]?.hostPort).toBe(40_000);
});

describe("host names of a cluster with an ingress of its own", () => {
  it("reach the workload there, and nothing is left of them at the end", async () => {
    const world = open({ cluster: { ingress: "cluster" } });
    const { id } = await running(world, 1n, { hosts: ["www.example.localhost"] });
    const { services } = await world.service.status(id);
    const url = services.web?.urls.find((each) => each.includes("www.example.localhost")) ?? "";
    expect(await statusOf(url)).toBe(200);
    expect(world.ingress.routes.hosts()).toEqual([]);
    await world.service.leaseClosed(id, 9n);
    await world.pass(1000);
    expect(await statusOf(url)).toBe(404);
  });
});

it("a deployment that fails is reported to its tenant without naming the host", async () => {
  const world = open();
  const { id, loaded } = await running(world);
  const place = join(world.folder, "leases", "x");
  world.driver.deploy = () => Promise.reject(new Error(`EIO: i/o error, open '${place}' on 10.1.2.3`));
  const update = sampleDeployment({ env: ["A=1"] });
  world.chain.win(id, onChain(update));
  await world.service.manifestReceived(id.owner, id.dseq, update.manifest).catch(() => {});
  expect(loaded.manifest).not.toEqual(update.manifest);
  const told = JSON.stringify(await world.service.status(id), (_, value) =>
    typeof value === "bigint" ? `${value}` : value,
  );
  expect(told).toContain(HOST_REASONS.engine.tenant);
  expect(told).not.toContain("EIO");
  expect(told).not.toContain(world.folder);
  expect(told).not.toContain("10.1.2.3");
});

describe("what ends a workload", () => {
  it("is never a chain that is down, forgetful or empty", async () => {
    const world = open();
    const { id } = await running(world);
    world.chain.down = true;
    await world.service.reconcile();
    await world.pass(600_000);
    world.chain.down = false;
    world.chain.leases.clear();
    await world.service.reconcile();
    await world.pass(600_000);
    expect(world.service.find(id)?.phase).toBe("running");
    expect((await world.driver.status(id)).health).toBe("ok");
    expect(world.closed).toEqual([]);
  });

  it("is the chain's word that the lease has ended, also when that happened while the daemon was down", async () => {
    const world = open();
    const { id } = await running(world);
    const other = await running(world, 2n);
    await world.service.stop();
    world.chain.end(id, 44n);
    await world.restart();
    await world.pass(0);
    expect((await world.driver.adopt()).map((lease) => lease.id.dseq)).toEqual([2n]);
    expect(world.service.find(other.id)?.phase).toBe("running");
  });

  it("does not wait for another lease that something keeps busy", async () => {
    const world = open();
    const { id } = await running(world);
    const other = await running(world, 2n);
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    world.driver.deploy = () => held;
    const busy = world.service.leaseForgotten(id);
    for (const each of [id, other.id]) world.chain.end(each, 44n);
    const compared = world.service.reconcile();
    await vi.waitFor(() => expect(world.service.find(other.id)?.phase ?? "closing").toBe("closing"), 30_000);
    expect(world.service.find(id)?.phase).toBe("running");
    letGo();
    await Promise.all([busy, compared]);
    await world.pass(0);
    expect(await world.driver.adopt()).toEqual([]);
  });

  it("is the chain's word that it keeps nothing of the closed deployment, after a longer absence", async () => {
    const world = open();
    const { id } = await running(world);
    const other = await running(world, 2n);
    await world.service.stop();
    world.chain.forget(id, 150_000n);
    world.chain.forget(other.id);
    await world.restart();
    await world.pass(0);
    expect((await world.driver.adopt()).map((lease) => lease.id.dseq)).toEqual([2n]);
    expect(world.service.find(id)).toBeUndefined();
    expect(world.service.find(other.id)?.phase).toBe("running");
  });

  it("is repeated until it is done, over restarts too", async () => {
    const world = open();
    const { id } = await running(world);
    world.cluster.reachable = false;
    world.chain.end(id, 12n);
    await world.service.leaseClosed(id, 12n);
    await world.pass(120_000);
    expect(world.service.find(id)?.phase).toBe("closing");
    await world.restart();
    world.cluster.reachable = true;
    await world.pass(120_000);
    expect(await world.driver.adopt()).toEqual([]);
    expect(world.service.find(id)).toBeUndefined();
  });
});

describe("start", () => {
  it("leaves running workloads alone and routes to them again", async () => {
    const world = open();
    const { id } = await running(world);
    const before = world.cluster.backends(id, "web", 80);
    world.chain.down = true;
    await world.restart();
    await world.pass(60_000);
    expect(world.cluster.backends(id, "web", 80)).toEqual(before);
    expect(world.ingress.routes.hosts()).toHaveLength(1);
  });

  it.each(["{half", "", undefined])("makes a record again that was damaged or lost (%j)", async (text) => {
    const world = open();
    const { id } = await running(world);
    const before = world.service.find(id);
    await world.service.stop();
    const path = join(world.folder, "leases", `${leaseNamespace(id)}.json`);
    if (text === undefined) rmSync(path);
    else writeFileSync(path, text);
    const service = await world.restart();
    const said = "the record of a lease was lost; it is made again from what the cluster runs";
    expect(world.logs.some(({ message }) => message === said)).toBe(true);
    await world.pass(30_000);
    expect(service.find(id)).toEqual({ ...before, firstSeen: expect.any(Number) });
    await expect(service.status(id)).resolves.toBeDefined();
    expect(world.closed).toEqual([]);
  });

  it("keeps a workload that neither the store nor the cluster can describe, and takes its manifest again", async () => {
    const world = open();
    const { id, loaded } = await running(world);
    await world.service.stop();
    writeFileSync(join(world.folder, "leases", `${leaseNamespace(id)}.json`), "{half");
    const openCluster = world.cluster.open.bind(world.cluster);
    world.cluster.open = () => {
      const driver = openCluster();
      const adopt = driver.adopt.bind(driver);
      driver.adopt = async () => (await adopt()).map((lease) => ({ ...lease, spec: undefined }));
      return driver;
    };
    const service = await world.restart();
    expect(world.logs.some(({ message }) => message === "workload without a stored manifest stays")).toBe(true);
    await world.pass(1_000_000);
    expect(world.closed).toEqual([]);
    expect((await world.driver.status(id)).health).toBe("ok");
    await expect(service.status(id)).rejects.toThrow(/no manifest/);
    await service.manifestReceived(TENANT, 1n, loaded.manifest);
    expect(service.find(id)?.generation).toBe(2);
    await world.pass(30_000);
    expect(service.find(id)?.phase).toBe("running");
  });

  it("sets a record aside that cannot be read, and makes it again", async () => {
    const world = open();
    const { id } = await running(world);
    const before = world.service.find(id);
    await world.service.stop();
    const path = join(world.folder, "leases", `${leaseNamespace(id)}.json`);
    rmSync(path);
    mkdirSync(path);
    writeFileSync(join(path, "file"), "");
    const service = await world.restart();
    const said = world.logs.filter(({ level }) => level === "E");
    expect(said.map(({ message }) => message)).toEqual(["lease record is unreadable and was set aside"]);
    await world.pass(30_000);
    expect(service.find(id)).toEqual({ ...before, firstSeen: expect.any(Number) });
    expect(statSync(path).isFile()).toBe(true);
    expect(world.closed).toEqual([]);
  });

  it("serves a workload whose record can be neither read nor written", async () => {
    const world = open();
    const { id } = await running(world);
    await world.service.stop();
    const folder = join(world.folder, "leases");
    rmSync(folder, { recursive: true });
    const openCluster = world.cluster.open.bind(world.cluster);
    world.cluster.open = () => {
      const driver = openCluster();
      const adopt = driver.adopt.bind(driver);
      driver.adopt = async () => {
        // Something else stands in the place of the folder.
        rmSync(folder, { recursive: true });
        writeFileSync(folder, "");
        return adopt();
      };
      return driver;
    };
    const service = await world.restart();
    expect(world.logs.some(({ message }) => message === "the record of a lease cannot be written")).toBe(true);
    expect(service.find(id)?.group).not.toBeNull();
    expect((await world.driver.status(id)).health).toBe("ok");
    rmSync(folder);
  });

  it("removes a workload without record only when its lease has ended", async () => {
    const world = open();
    const { id } = await running(world);
    await world.service.stop();
    writeFileSync(join(world.folder, "leases", `${leaseNamespace(id)}.json`), "");
    world.chain.end(id);
    await world.restart();
    await world.pass(0);
    expect(await world.driver.adopt()).toEqual([]);
  });

  it("puts back what the cluster lost, and says of a workload that ran that it has data", async () => {
    const world = open();
    const deployed: (boolean | undefined)[] = [];
    const openCluster = world.cluster.open.bind(world.cluster);
    world.cluster.open = () => {
      const driver = openCluster();
      const deploy = driver.deploy.bind(driver);
      driver.deploy = (spec, options) => {
        deployed.push(options?.hasRun);
        return deploy(spec, options);
      };
      return driver;
    };
    await world.restart();
    const { id } = await running(world);
    await world.service.stop();
    await world.driver.teardown(id);
    await world.restart();
    await world.pass(0);
    await untilOk(world.driver, id);
    expect(deployed).toEqual([false, true]);
  });

  it("has described anew, once it has started, what the cluster runs and cannot describe", async () => {
    const world = open();
    const { id } = await running(world);
    await world.service.stop();
    const described: string[] = [];
    const openCluster = world.cluster.open.bind(world.cluster);
    world.cluster.open = () => {
      const driver = openCluster();
      const [adopt, deploy] = [driver.adopt.bind(driver), driver.deploy.bind(driver)];
      driver.adopt = async () => (await adopt()).map((lease) => ({ ...lease, spec: undefined }));
      driver.deploy = async (spec) => {
        await deploy(spec);
        described.push(formatLeaseId(spec.id));
      };
      return driver;
    };
    await world.restart();
    expect(described).toContain(formatLeaseId(id));
  });

  it("takes up leases that were won while it was down, but not while the cluster cannot be asked", async () => {
    const world = open();
    const id = leaseOf(1n);
    world.chain.win(id, onChain(sampleDeployment()));
    world.cluster.reachable = false;
    await world.restart();
    expect(world.service.find(id)).toBeUndefined();
    world.cluster.reachable = true;
    await world.pass(60_000);
    expect(world.service.find(id)?.phase).toBe("awaiting");
  });

  it("says what it found", async () => {
    const world = open();
    await running(world);
    world.logs.length = 0;
    await world.restart();
    const lines = world.logs
      .filter(({ level }) => level === "I")
      .map(({ message, fields }) => ({ message, ...fields }));
    expect(lines).toEqual([
      { message: "found existing leases", module: "provider-manifest", count: 1 },
      { message: "found leases", module: "provider-cluster", cmp: "service", "num-active": 1 },
      { message: "found deployments", module: "provider-cluster", cmp: "service", "num-active": 1, "num-skipped": 0 },
    ]);
  });
});

describe("the monitor", () => {
  const events = async (world: LeaseHarness, id: ReturnType<typeof leaseOf>) => {
    const options = { services: [], follow: false, tail: -1, signal: new AbortController().signal };
    const found: string[] = [];
    for await (const event of world.service.events(id, options)) found.push(event.reason);
    return found;
  };

  async function broken(world: LeaseHarness) {
    const { id } = await running(world, 1n, { job: "sleep 1000" });
    world.driver.status = async () => ({
      health: world.cluster.reachable ? "bad" : "unknown",
      services: [
        { name: "job", total: 1, available: 0, generation: 1, updated: 0, replicas: [], error: "exit code 1" },
      ],
    });
    return id;
  }

  it("keeps a lease that crashes for ten minutes and tells the tenant", async () => {
    const world = open();
    const id = await broken(world);
    await world.pass(600_000);
    expect(world.closed).toEqual([]);
    expect(await events(world, id)).toContain("Unhealthy");
  });

  it("closes a lease that never works after the grace time, once, with a warning before", async () => {
    const world = open();
    const id = await broken(world);
    await world.pass(4_000_000);
    expect(world.closed).toEqual([]);
    expect(await events(world, id)).toContain("Closing");
    await world.pass(3_400_000);
    expect(world.closed).toEqual([{ id, reason: "unstable" }]);
    expect(world.service.find(id)?.phase).not.toBe("closing");
  });

  it("never closes a lease that nobody can look at", async () => {
    const world = open();
    await broken(world);
    await world.pass(3_000_000);
    world.cluster.reachable = false;
    await world.pass(20_000_000);
    expect(world.closed).toEqual([]);
  });

  it("is satisfied again by a replica that comes back", async () => {
    const world = open();
    const { id } = await running(world);
    world.cluster.crash(id, "web", 0);
    await untilHealth(world.driver, id, ({ health }) => health === "ok", "the replica back");
    await world.pass(10_000_000);
    expect(world.closed).toEqual([]);
  });
});
