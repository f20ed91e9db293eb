import assert from "node:assert/strict";
import { type ConformanceCase, only, pageStatus, readyReplicas, untilOk, withDriver } from "./harness.ts";
import { sampleLease, sampleService, sampleSpec } from "./samples.ts";

/** Leases over restarts, and their end. */
export const lifeCases: readonly ConformanceCase[] = [
  {
    name: "a restarted daemon finds its leases as they were",
    run: async (harness) => {
      const spec = sampleSpec([sampleService(harness.image)], { generation: 4, version: "ab".repeat(32) });
      const first = await harness.open();
      await first.deploy(spec);
      await untilOk(first, spec.id);
      const before = await readyReplicas(first, spec.id);
      await first.close();
      await withDriver(harness, async (driver, leases) => {
        leases.push(spec.id);
        const found = (await driver.adopt()).filter((lease) => lease.id.dseq === spec.id.dseq);
        assert.deepEqual(found, [
          { id: spec.id, version: spec.version, generation: 4, spec: { ...spec, generation: 4 } },
        ]);
        const service = only((await untilOk(driver, spec.id)).services);
        assert.equal(service.replicas[0]?.restarts, 0);
        assert.deepEqual(await readyReplicas(driver, spec.id), before);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        assert.deepEqual(await readyReplicas(driver, spec.id), before);
      });
    },
  },
  {
    name: "teardown leaves nothing and may be repeated",
    run: (harness) =>
      withDriver(harness, async (driver) => {
        const spec = sampleSpec([sampleService(harness.image, { count: 2 })]);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        await driver.teardown(spec.id);
        assert.deepEqual(await readyReplicas(driver, spec.id), []);
        const left = (await driver.adopt()).filter((lease) => lease.id.dseq === spec.id.dseq);
        assert.deepEqual(left, []);
        await driver.teardown(spec.id);
      }),
  },
  {
    name: "an older manifest does not replace a newer one",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const id = sampleLease();
        leases.push(id);
        const services = [sampleService(harness.image)];
        await driver.deploy(sampleSpec(services, { id, generation: 3, version: "03".repeat(32) }));
        const old = sampleSpec(services, { id, generation: 2, version: "02".repeat(32) });
        await assert.rejects(driver.deploy(old), /newer manifest/);
      }),
  },
  {
    name: "of an unknown lease nothing is claimed",
    run: (harness) =>
      withDriver(harness, async (driver) => {
        const id = sampleLease();
        assert.deepEqual(await driver.status(id), { health: "unknown", services: [] });
        assert.deepEqual(await readyReplicas(driver, id), []);
        await driver.teardown(id);
        const request = { service: "web", replica: 0, command: ["true"], tty: false, stdin: false };
        await assert.rejects(driver.exec(id, request), /no workload/);
      }),
  },
  {
    name: "what is suspended starts again when the driver is opened the next time",
    run: async (harness) => {
      const spec = sampleSpec([sampleService(harness.image)]);
      const first = await harness.open();
      await first.deploy(spec);
      await untilOk(first, spec.id);
      await first.suspend();
      const status = await pageStatus(first, spec.id).catch(() => "nobody listens");
      assert.notEqual(status, 200);
      await withDriver(harness, async (driver, leases) => {
        leases.push(spec.id);
        await untilOk(driver, spec.id);
        assert.equal(await pageStatus(driver, spec.id), 200);
      });
    },
  },
  {
    name: "purge removes all leases, and the driver takes new ones",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const old = sampleSpec([sampleService(harness.image)]);
        await driver.deploy(old);
        await untilOk(driver, old.id);
        await driver.purge();
        assert.deepEqual(await driver.adopt(), []);
        const fresh = sampleSpec([sampleService(harness.image)]);
        leases.push(fresh.id);
        await driver.deploy(fresh);
        await untilOk(driver, fresh.id);
      }),
  },
];
