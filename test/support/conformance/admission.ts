import assert from "node:assert/strict";
import { EPHEMERAL } from "../../../src/provider/cluster/contract/capacity.ts";
import type { ManifestService } from "../../../src/sdl/index.ts";
import { type ConformanceCase, withDriver } from "./harness.ts";
import { sampleExpose, sampleService, sampleSpec } from "./samples.ts";

/** A cluster's figures before a lease, and its refusals. */
export const admissionCases: readonly ConformanceCase[] = [
  {
    name: "what can never run is refused, by the check and by deploy, and nothing is kept",
    run: (harness) =>
      withDriver(harness, async (driver) => {
        const service = sampleService(harness.image);
        const { resources } = service;
        const gpu = { units: { val: "1" }, attributes: [{ key: "vendor/none/model/such", value: "true" }] };
        const memory = { size: { val: (driver.limits.leastMemory - 1n).toString() } };
        const refused: readonly (readonly [Partial<ManifestService>, RegExp])[] = [
          [{ resources: { ...resources, gpu } }, /GPU/],
          [{ resources: { ...resources, memory } }, /memory/],
          [{ image: "not an image" }, /not an image name|no image name/],
          [{ expose: [sampleExpose({ externalPort: 9000 })] }, /no host port/],
          ...(driver.limits.leasedIps ? [] : [[{ expose: [sampleExpose({ ip: "mine" })] }, /IP/] as const]),
        ];
        for (const [change, reason] of refused) {
          const spec = sampleSpec([{ ...service, ...change }]);
          await assert.rejects(driver.check(spec), reason);
          await assert.rejects(driver.deploy(spec), reason);
        }
        assert.deepEqual(await driver.adopt(), []);
      }),
  },
  {
    name: "the check takes what can run, and changes nothing",
    run: (harness) =>
      withDriver(harness, async (driver) => {
        const spec = sampleSpec([sampleService(harness.image)]);
        await driver.check(spec);
        assert.deepEqual(await driver.adopt(), []);
        assert.deepEqual(await driver.status(spec.id), { health: "unknown", services: [] });
      }),
  },
  {
    name: "capacity is reported by node, with storage classes and kinds of GPU, and the version",
    run: (harness) =>
      withDriver(harness, async (driver) => {
        const { nodes, storage } = await driver.capacity();
        assert.ok(nodes.length > 0);
        assert.equal(new Set(nodes.map(({ name }) => name)).size, nodes.length);
        for (const node of nodes) {
          assert.ok(node.cpu > 0n && node.memory > driver.limits.leastMemory);
          const pools = [...node.storage, ...storage];
          assert.ok(
            pools.some(({ classes, bytes }) => (classes === "all" || classes.includes(EPHEMERAL)) && bytes > 0n),
          );
          assert.ok(node.gpus.every(({ vendor, model, count }) => vendor !== "" && model !== "" && count >= 0n));
        }
        assert.ok(Object.keys(await driver.version()).length > 0);
      }),
  },
];
