import { afterEach, describe, expect, it } from "vitest";
import { untilOk } from "../../../test/support/conformance/index.ts";
import { onChain, sampleDeployment, sampleFile } from "../../../test/support/provider/deployment.ts";
import { type HarnessOptions, LeaseHarness, leaseOf, STRANGER, TENANT } from "../../../test/support/provider/leases.ts";
import { type LoadedSdl, loadSdl } from "../../sdl/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import { clusterErrors } from "../cluster/index.ts";

const POOL = ["203.0.113.1", "203.0.113.2"];
let harness: LeaseHarness | undefined;

function open(options: HarnessOptions = {}): LeaseHarness {
  harness = new LeaseHarness({ ...options, cluster: { leasedIps: POOL, ...options.cluster } });
  return harness;
}

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

async function send(world: LeaseHarness, id = leaseOf(1n), ...leasedIps: readonly string[]) {
  return give(world, id, sampleDeployment({ leasedIps, count: leasedIps.length + 1 }));
}

async function give(world: LeaseHarness, id: LeaseKey, loaded: LoadedSdl) {
  world.chain.win(id, onChain(loaded));
  await world.service.manifestReceived(id.owner, id.dseq, loaded.manifest);
  await untilOk(world.driver, id);
  await world.pass(5_000);
  return id;
}

/** The tenant's view: the address of each name. */
async function told(world: LeaseHarness, id = leaseOf(1n)) {
  const { ips, withheld_endpoints: withheld } = await world.service.status(id);
  return [(ips.web ?? []).map(({ Endpoint, IP }) => `${Endpoint} ${IP}`), withheld];
}

async function migrate(world: LeaseHarness, to: bigint, endpoints: readonly string[], owner = TENANT) {
  return world.service.migrateEndpoints({ owner, dseq: to, gseq: 1, endpoints, permit: async () => {} });
}

describe("leased addresses", () => {
  it("are those of the manifest, shown with their ports, and go back when the lease has ended", async () => {
    const world = open();
    const id = await send(world, leaseOf(1n), "game", "voice");
    expect((await world.service.status(id)).ips.web?.[1]).toEqual({
      Port: 80,
      ExternalPort: 5301,
      Protocol: "TCP",
      IP: POOL[1],
      Endpoint: "voice",
      Assigned: true,
    });
    await world.restart();
    expect(await told(world)).toEqual([[`game ${POOL[0]}`, `voice ${POOL[1]}`], []]);
    await world.service.leaseClosed(id, 9n);
    await world.pass(0);
    expect(world.driver.addresses.holdersOf(TENANT, "game")).toEqual([]);
    expect(world.cluster.holdings.size).toBe(0);
  });

  it("run out with a clear refusal that takes nothing", async () => {
    const world = open();
    await send(world, leaseOf(1n), "game");
    await expect(send(world, leaseOf(1n, STRANGER), "aa", "bb")).rejects.toThrow(/no IP address is left/);
    expect([...world.cluster.holdings.keys()]).toEqual([POOL[0]]);
    const late = await send(world, leaseOf(2n, STRANGER), "bb");
    expect(await told(world, late)).toEqual([[`bb ${POOL[1]}`], []]);
  });

  it("are refused where there are none", async () => {
    const world = open({ cluster: { leasedIps: [] } });
    await expect(send(world, leaseOf(1n), "game")).rejects.toThrow(/leased IP addresses are not available here/);
  });

  it("of one name are two owners' own, and of one owner the first deployment's until that one ends", async () => {
    const world = open();
    const first = await send(world, leaseOf(1n), "game");
    const second = await send(world, leaseOf(2n), "game");
    const other = await send(world, leaseOf(1n, STRANGER), "game");
    expect(await told(world, second)).toEqual([[], ["game"]]);
    expect(await told(world, other)).toEqual([[`game ${POOL[1]}`], []]);
    await world.service.leaseClosed(first, 9n);
    await world.pass(0);
    expect(await told(world, second), "the same address").toEqual([[`game ${POOL[0]}`], []]);
  });

  it("that a manifest gives up go to the deployment that waits for them, and else back", async () => {
    const world = open();
    const first = await send(world, leaseOf(1n), "game", "voice");
    const second = await send(world, leaseOf(2n), "game");
    await send(world, first, "other");
    expect(await told(world, second)).toEqual([[`game ${POOL[0]}`], []]);
    await world.pass(60_000);
    expect(await told(world, first)).toEqual([[`other ${POOL[1]}`], []]);
  });

  it("that a refused manifest asked for are not kept", async () => {
    const world = open();
    const id = await send(world, leaseOf(1n), "game");
    const { deploy } = world.driver;
    world.driver.deploy = () => Promise.reject(Object.assign(new Error("no"), { codespace: "cluster", code: 5 }));
    world.driver.check = () => Promise.reject(new Error("it can never run"));
    await expect(send(world, id, "game", "voice")).rejects.toThrow(/never run/);
    world.driver.deploy = deploy;
    expect(await told(world)).toEqual([[`game ${POOL[0]}`], []]);
    expect(world.cluster.holdings.size).toBe(1);
  });

  it("of a crash between claim and record go back", async () => {
    const world = open();
    const id = await send(world);
    await world.driver.addresses.claim(id, ["game"]);
    await world.crash();
    await world.pass(60_000);
    expect(world.cluster.holdings.size).toBe(0);
    expect(await told(world)).toEqual([[], []]);
  });

  it("of a lease of which nothing else is left go back with the chain's word that it has ended, and not before", async () => {
    const world = open();
    const id = leaseOf(7n);
    await world.driver.addresses.claim(id, ["game"]);
    world.chain.down = true;
    await world.crash();
    await world.pass(60_000);
    expect(world.cluster.holdings.size, "nobody says that it has ended").toBe(1);
    world.chain.down = false;
    world.chain.win(id, onChain(sampleDeployment()));
    world.chain.end(id);
    await world.service.reconcile();
    await world.pass(60_000);
    expect(world.cluster.holdings.size).toBe(0);
  });
});

/** Two services at one address, each in a placement of its own. */
function twoGroups(ip = "game", ofSecond = ip): LoadedSdl {
  const sample = JSON.parse(sampleFile({ leasedIps: [ip], job: "serve" }));
  sample.endpoints[ofSecond] = sample.endpoints[ip];
  const expose = [{ port: 80, as: 5400, to: [{ global: true, ip: ofSecond }] }];
  sample.services.job = { image: sample.services.web.image, expose };
  sample.profiles.placement.there = sample.profiles.placement.here;
  sample.deployment.job = { there: sample.deployment.job.here };
  return loadSdl(JSON.stringify(sample));
}

describe("leased addresses of a deployment with two groups at one provider", () => {
  it("are shared by both, and stay while one of them runs", async () => {
    const world = open();
    const loaded = twoGroups();
    const [one, two] = [leaseOf(1n), { ...leaseOf(1n), gseq: 2 }];
    for (const id of [one, two]) world.chain.win(id, onChain(loaded));
    await world.service.manifestReceived(TENANT, 1n, loaded.manifest);
    for (const id of [one, two]) await untilOk(world.driver, id);
    await world.pass(5_000);
    expect((await world.service.status(two)).ips.job).toMatchObject([{ IP: POOL[0], ExternalPort: 5400 }]);
    expect([await told(world, one), world.cluster.holdings.size]).toEqual([[[`game ${POOL[0]}`], []], 1]);
    expect((await world.service.status(two)).withheld_endpoints).toEqual([]);
    await world.restart();
    await world.service.leaseClosed(one, 9n);
    await world.pass(60_000);
    expect((await world.service.status(two)).ips.job).toMatchObject([{ IP: POOL[0], ExternalPort: 5400 }]);
    await world.service.leaseClosed(two, 9n);
    await world.pass(60_000);
    expect(world.cluster.holdings.size).toBe(0);
  });

  it("are no more than are paid for where one of them cannot run what the manifest says", async () => {
    const world = open();
    const [one, two] = [leaseOf(1n), { ...leaseOf(1n), gseq: 2 }];
    const update = async (ip: string) => {
      const loaded = twoGroups(ip);
      for (const id of [one, two]) world.chain.win(id, onChain(loaded));
      await world.service.manifestReceived(TENANT, 1n, loaded.manifest);
    };
    await update("game");
    const { check } = world.driver;
    world.driver.check = async (spec) => {
      if (spec.id.gseq === 2) throw clusterErrors.unsupported("it can never run");
      await check.call(world.driver, spec);
    };
    await expect(update("voice")).rejects.toThrow(/never run/);
    await world.pass(60_000);
    expect(world.cluster.holdings.size).toBe(1);
    expect(await told(world, one)).toEqual([[`game ${POOL[0]}`], []]);
  });

  it("can have another name where all others are taken, and no more of them", async () => {
    const world = open();
    const [one, two] = [leaseOf(1n), { ...leaseOf(1n), gseq: 2 }];
    const update = async (loaded: LoadedSdl) => {
      for (const id of [one, two]) world.chain.win(id, onChain(loaded));
      await world.service.manifestReceived(TENANT, 1n, loaded.manifest);
    };
    await update(twoGroups("game"));
    await send(world, leaseOf(1n, STRANGER), "other");
    await expect(update(twoGroups("voice", "chat"))).rejects.toThrow(/no IP address is left/);
    expect(await told(world, one)).toEqual([[`game ${POOL[0]}`], []]);
    await update(twoGroups("voice"));
    await world.pass(60_000);
    expect(await told(world, one)).toEqual([[`voice ${POOL[0]}`], []]);
    expect((await world.service.status(two)).ips.job).toMatchObject([{ IP: POOL[0], ExternalPort: 5400 }]);
    expect(world.cluster.holdings.size).toBe(2);
  });

  it("are those of before in both where one of them cannot be deployed after all", async () => {
    const world = open();
    const [one, two] = [leaseOf(1n), { ...leaseOf(1n), gseq: 2 }];
    const update = async (ip: string) => {
      const loaded = twoGroups(ip);
      for (const id of [one, two]) world.chain.win(id, onChain(loaded));
      await world.service.manifestReceived(TENANT, 1n, loaded.manifest);
    };
    await update("game");
    const version = world.service.find(one)?.version;
    const { deploy } = world.driver;
    let refusals = 1;
    world.driver.deploy = async (spec) => {
      if (spec.id.gseq === 2 && refusals-- > 0) throw clusterErrors.unsupported("it can never run");
      await deploy.call(world.driver, spec);
    };
    await expect(update("voice")).rejects.toThrow(/never run/);
    expect([one, two].map((id) => world.service.find(id)?.version)).toEqual([version, version]);
    await world.pass(60_000);
    for (const id of [one, two]) await untilOk(world.driver, id);
    expect(await told(world, one)).toEqual([[`game ${POOL[0]}`], []]);
    expect(world.cluster.holdings.size).toBe(1);
    await update("voice");
    expect(new Set([one, two].map((id) => world.service.find(id)?.version)).size).toBe(1);
    expect(world.service.find(one)?.version).not.toBe(version);
  });

  it("migrate from both, with leave for both", async () => {
    const world = open();
    const loaded = twoGroups();
    const [one, two] = [leaseOf(1n), { ...leaseOf(1n), gseq: 2 }];
    for (const id of [one, two]) world.chain.win(id, onChain(loaded));
    await world.service.manifestReceived(TENANT, 1n, loaded.manifest);
    await send(world, leaseOf(2n), "game");
    const asked: string[] = [];
    const permit = async ({ dseq, gseq }: LeaseKey) => void asked.push(`${dseq}/${gseq}`);
    await world.service.migrateEndpoints({ owner: TENANT, dseq: 2n, gseq: 1, endpoints: ["game"], permit });
    expect(asked).toEqual(["2/1", "1/1", "1/2"]);
    await world.pass(60_000);
    expect([await told(world, leaseOf(2n)), (await world.service.status(two)).withheld_endpoints]).toEqual([
      [[`game ${POOL[0]}`], []],
      ["game"],
    ]);
    asked.length = 0;
    await world.service.migrateEndpoints({ owner: TENANT, dseq: 1n, gseq: 2, endpoints: ["game"], permit });
    await world.pass(60_000);
    expect([asked, await told(world, one)]).toEqual([
      ["1/2", "2/1"],
      [[`game ${POOL[0]}`], []],
    ]);
  });
});

describe("leased addresses of which little is known", () => {
  it("stay with a workload whose manifest is lost, whatever other leases of its owner do", async () => {
    const world = open();
    const lost = leaseOf(7n);
    world.chain.win(lost, onChain(sampleDeployment({ leasedIps: ["game"] })));
    await world.driver.addresses.claim(lost, ["game"]);
    await world.crash();
    expect(world.service.find(lost)).toMatchObject({ adopted: true, group: null });
    const other = await send(world, leaseOf(1n), "voice");
    await world.service.leaseClosed(other, 9n);
    await world.pass(60_000);
    expect(world.driver.addresses.heldBy(lost)).toEqual(["game"]);
  });

  it("go back when the first manifest of a lease is refused", async () => {
    const world = open();
    const { check } = world.driver;
    world.driver.deploy = () => Promise.reject(clusterErrors.unsupported("it can never run"));
    await expect(send(world, leaseOf(1n), "game")).rejects.toThrow(/never run/);
    expect([check === world.driver.check, world.cluster.holdings.size]).toEqual([true, 0]);
  });

  it("are shown for services with any name", async () => {
    const world = open();
    const sample = JSON.parse(
      sampleFile({ leasedIps: ["game"], nodePorts: [9000] }).replaceAll('"web"', '"constructor"'),
    );
    const loaded = loadSdl(JSON.stringify(sample));
    const id = leaseOf(1n);
    world.chain.win(id, onChain(loaded));
    await world.service.manifestReceived(TENANT, 1n, loaded.manifest);
    const { ips, forwarded_ports: ports } = await world.service.status(id);
    expect([Object.keys(ips), Object.keys(ports)]).toEqual([["constructor"], ["constructor"]]);
  });
});

describe("leased addresses that migrate", () => {
  it("are the destination's from then on, over restarts, and migrating again changes nothing", async () => {
    const world = open();
    const [first, second] = [await send(world, leaseOf(1n), "game"), await send(world, leaseOf(2n), "game")];
    for (let time = 0; time < 2; time++) {
      expect(await migrate(world, 2n, ["game"])).toEqual(["game"]);
      expect(await told(world, first)).toEqual([[], ["game"]]);
      expect(await told(world, second)).toEqual([[`game ${POOL[0]}`], []]);
    }
    await world.restart();
    await world.pass(60_000);
    expect(await told(world, second)).toEqual([[`game ${POOL[0]}`], []]);
    expect(await migrate(world, 1n, ["game", "game"])).toEqual(["game"]);
    expect(await told(world, first)).toEqual([[`game ${POOL[0]}`], []]);
  });

  it("stay where they are if the destination does not name them, has no replica, or is not the owner's", async () => {
    const world = open();
    await send(world, leaseOf(1n), "game");
    await send(world, leaseOf(2n));
    await expect(migrate(world, 2n, ["game"])).rejects.toThrow(/manifest of the destination has no such/);
    await expect(migrate(world, 9n, ["game"])).rejects.toThrow(/no active lease/);
    await expect(migrate(world, 1n, ["game"], STRANGER)).rejects.toThrow(/no active lease/);
    await send(world, leaseOf(3n), "game");
    world.cluster.reachable = false;
    const { status } = world.driver;
    world.driver.status = async () => ({ health: "unknown", services: [] });
    await expect(migrate(world, 3n, ["game"])).rejects.toThrow(/no replica that is ready/);
    world.driver.status = status;
    await expect(migrate(world, 3n, ["game"])).rejects.toThrow(/does not answer/);
    world.cluster.reachable = true;
    expect(world.driver.addresses.holdersOf(TENANT, "game")[0]?.dseq).toBe(1n);
  });

  it("are one wish of an owner at a time, and need leave for each lease that loses one", async () => {
    const world = open();
    await send(world, leaseOf(1n), "game");
    await send(world, leaseOf(2n), "game");
    const asked: bigint[] = [];
    const permit = async ({ dseq }: { readonly dseq: bigint }) => {
      asked.push(dseq);
      if (dseq === 1n) throw new Error("not this one");
    };
    const wish = { owner: TENANT, dseq: 2n, gseq: 1, endpoints: ["game"], permit };
    const [one, two] = await Promise.allSettled([
      world.service.migrateEndpoints(wish),
      world.service.migrateEndpoints(wish),
    ]);
    expect([one, two]).toMatchObject([
      { reason: { message: "not this one" } },
      { reason: { message: expect.stringMatching(/already being migrated/) } },
    ]);
    expect(asked).toEqual([2n, 1n]);
    expect(world.driver.addresses.holdersOf(TENANT, "game")[0]?.dseq).toBe(1n);
  });

  it("pass host names that migrate the other way", async () => {
    const world = open();
    const hosts = ["shop.example.org"];
    const ids = [leaseOf(1n), leaseOf(2n)] as const;
    const loaded = sampleDeployment({ leasedIps: ["game"], hosts });
    for (const id of ids) await give(world, id, loaded);
    await migrate(world, 2n, ["game"]);
    const names = { owner: TENANT, dseq: 2n, gseq: 1, hosts, permit: async () => {} };
    expect(await Promise.all([world.service.migrateHosts(names), migrate(world, 1n, ["game"])])).toEqual([
      hosts,
      ["game"],
    ]);
    for (const id of ids) await world.service.leaseClosed(id, 9n);
    await world.pass(60_000);
    expect([world.service.records(), world.cluster.holdings.size]).toEqual([[], 0]);
  });

  it("are taken from no lease that the credential was not asked about, nor are host names", async () => {
    const world = open();
    const hosts = ["shop.example.org"];
    const loaded = sampleDeployment({ leasedIps: ["game"], hosts });
    for (const dseq of [1n, 2n, 3n]) await give(world, leaseOf(dseq), loaded);
    await migrate(world, 1n, ["game"]);
    const asked: bigint[] = [];
    const wish = { owner: TENANT, gseq: 1, permit: async ({ dseq }: LeaseKey) => void asked.push(dseq) };
    const { status } = world.driver;
    // The first lease ends while the destination is looked at, and the second one is its heir.
    world.driver.status = async (id) => {
      await world.service.leaseClosed(leaseOf(1n), 9n);
      await world.pass(0);
      return status.call(world.driver, id);
    };
    const moves = await Promise.allSettled([
      world.service.migrateEndpoints({ ...wish, dseq: 3n, endpoints: ["game"] }),
      world.service.migrateHosts({ ...wish, dseq: 3n, hosts }),
    ]);
    expect(moves).toMatchObject(
      [1, 2].map(() => ({ reason: { message: expect.stringMatching(/already being migrated/) } })),
    );
    expect(new Set(asked)).toEqual(new Set([1n, 3n]));
    expect(world.driver.addresses.heldBy(leaseOf(2n))).toEqual(["game"]);
    expect(world.registry.holds(leaseOf(2n), hosts[0] ?? "")).toBe(true);
  });
});
