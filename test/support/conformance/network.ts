import assert from "node:assert/strict";
import { type ConformanceCase, httpOver, only, statusOf, untilOk, withDriver } from "./harness.ts";
import { sampleExpose, sampleLease, sampleService, sampleSpec, serviceOf } from "./samples.ts";

function nodePort(externalPort: number) {
  return sampleExpose({ externalPort });
}

/** Ports and host names lead to the lease's replicas, and to no others. */
export const networkCases: readonly ConformanceCase[] = [
  {
    name: "a node port carries to the replicas",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const service = sampleService(harness.image, { expose: [nodePort(9000)], count: 2 });
        const { id, group } = sampleSpec([service]);
        leases.push(id);
        const ports = await driver.ports.assign(id, group);
        await driver.deploy(sampleSpec([service], { id, ports }));
        await untilOk(driver, id);
        const { hostPort } = only(ports);
        assert.match(await httpOver(hostPort), /^HTTP\/1\.\d 200/);
        await driver.teardown(id);
        await assert.rejects(httpOver(hostPort), /ECONNREFUSED/);
      }),
  },
  {
    name: "node ports stay with their expose, and no two leases have the same",
    run: (harness) =>
      withDriver(harness, async ({ ports }) => {
        const [one, two] = [sampleLease(), sampleLease()];
        const groupOf = (...wanted: number[]) =>
          sampleSpec([sampleService(harness.image, { expose: wanted.map(nodePort) })]).group;
        const first = await ports.assign(one, groupOf(9000, 9001));
        assert.deepEqual(
          first.map(({ service, port, externalPort, proto }) => [service, port, externalPort, proto]),
          [9000, 9001].map((wanted) => ["web", 80, wanted, "TCP"]),
        );
        ports.hold(one, first);
        assert.deepEqual(await ports.assign(one, groupOf(9001)), [first[1]]);
        const other = await ports.assign(two, groupOf(9000, 9001));
        const all = [...first, ...other].map(({ hostPort }) => hostPort);
        assert.equal(new Set(all).size, 4);
        ports.release(one);
        ports.release(two);
      }),
  },
  {
    name: "a restarted daemon does not give away the node ports that its leases hold",
    run: async (harness) => {
      const [one, two] = [sampleLease(), sampleLease()];
      const { group } = sampleSpec([sampleService(harness.image, { expose: [nodePort(9000)] })]);
      const held = await withDriver(harness, async ({ ports }) => ports.assign(one, group));
      await withDriver(harness, async ({ ports }) => {
        ports.hold(one, held);
        assert.deepEqual(await ports.assign(one, group), held);
        assert.notEqual(only(await ports.assign(two, group)).hostPort, only(held).hostPort);
        ports.release(one);
        ports.release(two);
      });
    },
  },
  {
    name: "requests for a host name reach the service that it is routed to, and end with the route",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const spec = sampleSpec([sampleService(harness.image)]);
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        const { routing } = driver;
        if (routing.ingress === "provider") {
          assert.equal(await statusOf(`http://${only(routing.backends(spec.id, "web", 80))}/`), 200);
          assert.deepEqual([routing.backends(spec.id, "web", 81), routing.backends(spec.id, "other", 80)], [[], []]);
          return;
        }
        const [before, after] = ["before.localhost", "after.localhost"];
        await routing.route(spec.id, [serviceOf(spec.id, [before])]);
        assert.equal(await statusOf(routing.url(before)), 200);
        await routing.route(spec.id, [serviceOf(spec.id, [after])]);
        assert.equal(await statusOf(routing.url(after)), 200);
        assert.notEqual(await statusOf(routing.url(before)), 200);
        await routing.unroute(spec.id);
        assert.notEqual(await statusOf(routing.url(after)), 200);
      }),
  },
];
