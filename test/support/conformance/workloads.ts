import assert from "node:assert/strict";
import type { LeaseHealth } from "../../../src/provider/cluster/contract/driver.ts";
import {
  type ConformanceCase,
  collect,
  only,
  pageStatus,
  readyReplicas,
  stream,
  untilEqual,
  untilHealth,
  untilOk,
  untilUpdated,
  withDriver,
} from "./harness.ts";
import { sampleLease, sampleService, sampleSpec, scriptService } from "./samples.ts";

/** Deployed workloads run, and are replaced without a gap. */
export const workloadCases: readonly ConformanceCase[] = [
  {
    name: "a deployed service becomes ready and answers",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const spec = sampleSpec([sampleService(harness.image)]);
        leases.push(spec.id);
        await driver.deploy(spec);
        const service = only((await untilOk(driver, spec.id)).services);
        assert.deepEqual([service.name, service.total, service.available, service.updated], ["web", 1, 1, 1]);
        assert.deepEqual(
          service.replicas.map((replica) => [replica.name, replica.ready, replica.state]),
          [["web-0", true, "running"]],
        );
        assert.equal(await pageStatus(driver, spec.id), 200);
      }),
  },
  {
    name: "deploying the same again changes nothing",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const spec = sampleSpec([sampleService(harness.image)]);
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        const before = await readyReplicas(driver, spec.id);
        await driver.deploy(spec);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        assert.deepEqual(await readyReplicas(driver, spec.id), before);
      }),
  },
  {
    name: "count gives as many replicas, and an update of it adds and removes",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const id = sampleLease();
        leases.push(id);
        await driver.deploy(sampleSpec([sampleService(harness.image, { count: 3 })], { id }));
        await untilOk(driver, id);
        assert.equal(new Set(await readyReplicas(driver, id)).size, 3);
        await driver.deploy(sampleSpec([sampleService(harness.image, { count: 1 })], { id, generation: 2 }));
        await untilEqual(async () => (await readyReplicas(driver, id)).length, 1);
        assert.equal(only((await untilOk(driver, id)).services).replicas.length, 1);
      }),
  },
  {
    name: "an update replaces every replica",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const id = sampleLease();
        leases.push(id);
        const service = (text: string) => scriptService(harness.image, `echo ${text}; sleep 1000`, { count: 2 });
        await driver.deploy(sampleSpec([service("one")], { id }));
        await untilOk(driver, id);
        await driver.deploy(sampleSpec([service("two")], { id, generation: 2 }));
        const health = await untilUpdated(driver, id, 2);
        assert.equal(health.health, "ok");
        await untilHealth(driver, id, () => true, "a look");
        const lines = async () => (await collect(driver.logs(id, stream()))).map((line) => line.message);
        await untilEqual(lines, ["two", "two"]);
      }),
  },
  {
    name: "an update that cannot start keeps the old version and says why",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const id = sampleLease();
        leases.push(id);
        await driver.deploy(sampleSpec([sampleService(harness.image)], { id }));
        await untilOk(driver, id);
        const missing = sampleService(harness.missingImage);
        await driver.deploy(sampleSpec([missing], { id, generation: 2 }));
        const failed = (health: LeaseHealth) => health.services[0]?.error !== undefined;
        const health = await untilHealth(driver, id, failed, "an error");
        assert.equal(health.health, "ok");
        const service = only(health.services);
        assert.ok(service.error?.includes(harness.missingImage), service.error);
        assert.deepEqual([service.available, service.updated], [1, 0]);
        assert.equal(await pageStatus(driver, id), 200);
      }),
  },
  {
    name: "a program that ends is started again and the exit code is reported",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const spec = sampleSpec([scriptService(harness.image, "exit 3")]);
        leases.push(spec.id);
        await driver.deploy(spec);
        // Between its start and its end it runs.
        const again = ({ health, services: [web] }: LeaseHealth) =>
          health === "bad" && (web?.replicas[0]?.restarts ?? 0) > 0 && /exit code 3/.test(web?.error ?? "");
        await untilHealth(driver, spec.id, again, "a restart and its reason");
        const reasons = (await collect(driver.events(spec.id, stream()))).map((event) => event.reason);
        assert.ok(reasons.includes("BackOff"), reasons.join(" "));
      }),
  },
];
