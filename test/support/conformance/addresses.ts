import assert from "node:assert/strict";
import { endpointNames, type LeasedAddress } from "../../../src/provider/cluster/contract/addresses.ts";
import type { ClusterDriver, LeaseHealth } from "../../../src/provider/cluster/contract/driver.ts";
import type { ManifestService } from "../../../src/sdl/index.ts";
import type { LeaseKey } from "../../../src/wire/index.ts";
import { type ConformanceCase, only, untilHealth, withDriver } from "./harness.ts";
import { sampleExpose, sampleLease, sampleService, sampleSpec } from "./samples.ts";

/** DNS over both protocols, and a page, at the addresses named. */
function serviceWith(image: string, ...names: readonly string[]) {
  const expose = names.flatMap((ip) => [
    sampleExpose({ ip, endpointSequenceNumber: 1 }),
    sampleExpose({ ip, endpointSequenceNumber: 1, externalPort: 8080 }),
  ]);
  return sampleService(image, { expose });
}

/** Takes the ports and addresses that it needs, and deploys it. */
async function deploy(driver: ClusterDriver, image: string, id: LeaseKey, ...names: readonly string[]): Promise<void> {
  await deployService(driver, serviceWith(image, ...names), id);
}

/** Deploys a service with one port of the address `mine`. */
async function deployPort(
  driver: ClusterDriver,
  image: string,
  [id, externalPort]: readonly [LeaseKey, number],
): Promise<void> {
  const expose = [sampleExpose({ ip: "mine", endpointSequenceNumber: 1, externalPort })];
  await deployService(driver, sampleService(image, { expose }), id);
}

/** Leases of one deployment. */
function sisters(first: LeaseKey): readonly [LeaseKey, LeaseKey, LeaseKey] {
  return [first, { ...first, gseq: 2 }, { ...first, gseq: 3 }];
}

async function deployService(driver: ClusterDriver, service: ManifestService, id: LeaseKey): Promise<void> {
  const { group } = sampleSpec([service]);
  const ports = await driver.ports.assign(id, group);
  await driver.addresses.claim(id, endpointNames(group));
  await driver.deploy(sampleSpec(group.services, { id, ports }));
}

async function untilAssigned(driver: ClusterDriver, id: LeaseKey): Promise<readonly LeasedAddress[]> {
  const isAssigned = ({ health, addresses = [] }: LeaseHealth) =>
    health === "ok" && addresses.length > 0 && addresses.every(({ assigned }) => assigned);
  return (await untilHealth(driver, id, isAssigned, "its addresses")).addresses ?? [];
}

function addressesOf(addresses: readonly LeasedAddress[]): string[] {
  return [...new Set(addresses.map(({ address }) => address))];
}

/** Addresses of leases' own, where the cluster has any: the pool of the harness has three. */
export const addressCases: readonly ConformanceCase[] = [
  {
    name: "a lease has an address of its own for each name, until it gives it up or ends",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const { addresses, limits } = driver;
        const id = sampleLease();
        if (!limits.leasedIps) {
          await assert.rejects(addresses.claim(id, ["mine"]), /IP/);
          assert.deepEqual([addresses.heldBy(id), addresses.holdersOf(id.owner, "mine")], [[], []]);
          return;
        }
        leases.push(id);
        assert.equal((await driver.capacity()).addresses, 3);
        await deploy(driver, harness.image, id, "mine", "other");
        const told = await untilAssigned(driver, id);
        assert.deepEqual(
          told.map(({ endpoint, service, port, externalPort, proto }) => [
            endpoint,
            service,
            port,
            externalPort,
            proto,
          ]),
          ["mine", "other"].flatMap((name) => [80, 8080].map((port) => [name, "web", 80, port, "TCP"])),
        );
        const before = addressesOf(told);
        assert.equal(before.length, 2);
        await deploy(driver, harness.image, id, "mine", "other");
        assert.deepEqual(addressesOf(await untilAssigned(driver, id)), before, "the same again");
        await addresses.retain(id, ["mine"]);
        assert.deepEqual([addresses.heldBy(id), addresses.holdersOf(id.owner, "other")], [["mine"], []]);
        await driver.teardown(id);
        assert.deepEqual(addresses.heldBy(id), []);
      }),
  },
  {
    name: "no address has two leases: too many are refused and nothing of the wish is kept",
    run: (harness) =>
      withDriver(harness, async ({ addresses, limits }) => {
        if (!limits.leasedIps) return;
        const [one, two] = [sampleLease(), { ...sampleLease(), owner: "svc1other" }];
        await addresses.claim(one, ["mine", "second"]);
        await addresses.claim(one, ["mine"]);
        await assert.rejects(addresses.claim(two, ["mine", "second"]), /no IP address is left/);
        assert.deepEqual(addresses.heldBy(two), []);
        await addresses.claim(two, ["mine"]);
        assert.deepEqual(addresses.holdersOf("svc1other", "mine"), [two]);
        await assert.rejects(addresses.claim({ ...sampleLease(), owner: "svc1third" }, ["mine"]), /no IP address/);
        await addresses.retain(one, []);
        await addresses.claim(two, ["second", "third"]);
        await addresses.retain(two, []);
      }),
  },
  {
    name: "a name stays with the lease that has it until it migrates to another of the owner's, with its address",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const { addresses, limits } = driver;
        if (!limits.leasedIps) return;
        const [one, two] = [sampleLease(), sampleLease()];
        leases.push(one, two);
        await deploy(driver, harness.image, one, "mine");
        const address = only(addressesOf(await untilAssigned(driver, one)));
        await deploy(driver, harness.image, two, "mine");
        assert.deepEqual([addresses.heldBy(one), addresses.heldBy(two)], [["mine"], []]);
        assert.equal((await driver.status(two)).addresses, undefined);
        for (const [to, from] of [[two, one] as const, [two, one] as const, [one, two] as const]) {
          await addresses.migrate(to, ["mine", "unknown"]);
          assert.deepEqual([addresses.heldBy(from), addresses.heldBy(to)], [[], ["mine"]]);
          assert.deepEqual(addressesOf(await untilAssigned(driver, to)), [address]);
          assert.equal((await driver.status(from)).addresses, undefined);
        }
        const thief = { ...sampleLease(), owner: "svc1thief" };
        await addresses.migrate(thief, ["mine"]);
        assert.deepEqual([addresses.heldBy(one), addresses.heldBy(thief)], [["mine"], []]);
      }),
  },
  {
    name: "groups of one deployment share the address of a name, each with ports of its own, until the last gives it up",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const { addresses, limits } = driver;
        if (!limits.leasedIps) return;
        const [one, two, late] = sisters(sampleLease());
        leases.push(one, two, late);
        await deployPort(driver, harness.image, [one, 8080]);
        const address = only(addressesOf(await untilAssigned(driver, one)));
        await deployPort(driver, harness.image, [two, 8081]);
        assert.deepEqual(addressesOf(await untilAssigned(driver, two)), [address]);
        assert.deepEqual(addresses.holdersOf(one.owner, "mine"), [one, two]);
        await deployPort(driver, harness.image, [late, 8081]);
        const isRefused = ({ addresses: [port] = [], services: [service] }: LeaseHealth) =>
          /8081\/TCP .* another group/.test(`${port?.problem} ${service?.error}`) && port?.assigned === false;
        await untilHealth(driver, late, isRefused, "that its port is another's");
        await driver.teardown(late);
        await driver.teardown(one);
        assert.deepEqual(addressesOf(await untilAssigned(driver, two)), [address]);
        await driver.teardown(two);
        assert.deepEqual(addresses.holdersOf(one.owner, "mine"), []);
      }),
  },
  {
    name: "a restarted daemon knows who has which address, and tells of leases that have nothing else",
    run: async (harness) => {
      const id = sampleLease();
      const isLeasing = await withDriver(harness, async ({ addresses, limits }) => {
        if (limits.leasedIps) await addresses.claim(id, ["mine"]);
        return limits.leasedIps;
      });
      if (!isLeasing) return;
      await withDriver(harness, async (driver) => {
        assert.deepEqual(driver.addresses.heldBy(id), ["mine"]);
        assert.deepEqual(await driver.adopt(), [{ id, version: "", generation: 0, spec: undefined }]);
        await driver.teardown(id);
        assert.deepEqual([driver.addresses.heldBy(id), await driver.adopt()], [[], []]);
      });
    },
  },
];
