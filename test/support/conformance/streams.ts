import assert from "node:assert/strict";
import type { LeaseHealth } from "../../../src/provider/cluster/contract/driver.ts";
import {
  type ConformanceCase,
  collect,
  execute,
  pause,
  stream,
  untilEqual,
  untilHealth,
  untilOk,
  withDriver,
} from "./harness.ts";
import { sampleService, sampleSpec, scriptService } from "./samples.ts";

/** Tenants' streams and commands inside their workloads. */
export const streamCases: readonly ConformanceCase[] = [
  {
    name: "logs: services, tail, and following until the caller stops",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const script = "echo one; echo two; echo three; sleep 1; echo four; sleep 1000";
        const services = [
          scriptService(harness.image, script),
          scriptService(harness.image, "echo other; sleep 1000", { name: "zed" }),
        ];
        const spec = sampleSpec(services);
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        const abort = new AbortController();
        const seen: string[] = [];
        for await (const line of driver.logs(
          spec.id,
          stream({ services: ["web"], follow: true, signal: abort.signal }),
        )) {
          assert.equal(line.name, "web-0");
          seen.push(line.message);
          if (line.message === "four") abort.abort();
        }
        assert.deepEqual(seen, ["one", "two", "three", "four"]);
        const tail = await collect(driver.logs(spec.id, stream({ services: ["web"], tail: 2 })));
        assert.deepEqual(
          tail.map(({ name, message, stream: from }) => [name, message, from]),
          [
            ["web-0", "three", "stdout"],
            ["web-0", "four", "stdout"],
          ],
        );
        const [three, four] = tail.map(({ time }) => Date.parse(time));
        assert.ok(three !== undefined && four !== undefined && four > three);
        const late = await collect(driver.logs(spec.id, { ...stream({ services: ["web"] }), since: four }));
        assert.deepEqual(
          late.map(({ message }) => message),
          ["four"],
        );
        const names = async () => new Set((await collect(driver.logs(spec.id, stream()))).map((line) => line.name));
        // A replica is ready when it runs, and may have printed nothing yet.
        await untilEqual(async () => [...(await names())].sort(), ["web-0", "zed-0"]);
      }),
  },
  {
    name: "logs: a line is one line however long it is, and counts as one for a tail",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const long = "0123456789".repeat(10_000);
        const script = "echo $LONG; echo $LONG two; echo three; sleep 1000";
        const spec = sampleSpec([scriptService(harness.image, script, { env: [`LONG=${long}`] })]);
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        const messages = async (tail: number) =>
          (await collect(driver.logs(spec.id, stream({ tail })))).map(({ message }) => message);
        await untilEqual(async () => (await messages(-1)).length, 3);
        assert.deepEqual(await messages(-1), [long, `${long} two`, "three"]);
        assert.deepEqual(await messages(2), [`${long} two`, "three"]);
        const abort = new AbortController();
        const seen: string[] = [];
        for await (const { message } of driver.logs(spec.id, stream({ tail: 2, follow: true, signal: abort.signal }))) {
          seen.push(message);
          if (message === "three") abort.abort();
        }
        assert.deepEqual(seen, [`${long} two`, "three"]);
      }),
  },
  {
    name: "logs: following a service goes on over the restarts of all of its replicas, and shows no other service",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const services = [
          scriptService(harness.image, "echo begun; sleep 1000", { count: 2 }),
          scriptService(harness.image, "echo other; sleep 1000", { name: "zed" }),
        ];
        const spec = sampleSpec(services);
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        const abort = new AbortController();
        const follow = stream({ services: ["web"], follow: true, signal: abort.signal });
        const seen: string[] = [];
        const reading = (async () => {
          for await (const { name, message } of driver.logs(spec.id, follow)) seen.push(`${name} ${message}`);
        })();
        await untilHealth(driver, spec.id, () => seen.length >= 2, "a line of each replica");
        // Some clusters tell the times of lines in whole seconds.
        await pause(1_100);
        await driver.restart(spec.id, "web");
        await untilHealth(driver, spec.id, () => seen.length >= 4, "a line of each replica after its restart");
        abort.abort();
        await reading;
        const lines = ["web-0 begun", "web-1 begun"];
        assert.deepEqual([seen.slice(0, 2).sort(), seen.slice(2).sort()], [lines, lines]);
      }),
  },
  {
    name: "a service is started again when its tenant asks, and the log of the run before stays to be read",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const spec = sampleSpec([scriptService(harness.image, "echo begun; sleep 1000", { count: 2 })]);
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        const previous = { ...stream({ services: ["web"] }), previous: true };
        assert.deepEqual(await collect(driver.logs(spec.id, previous)), []);
        await untilEqual(async () => (await collect(driver.logs(spec.id, stream()))).length, 2);
        // Some clusters tell the times of lines in whole seconds.
        await pause(1_100);
        await driver.restart(spec.id, "web");
        const restarted = (health: LeaseHealth) =>
          health.health === "ok" &&
          health.services.every(({ replicas }) => replicas.every((each) => each.restarts === 1));
        await untilHealth(driver, spec.id, restarted, "one restart of each replica");
        const before = await collect(driver.logs(spec.id, previous));
        assert.deepEqual(before.map(({ name, message }) => `${name} ${message}`).sort(), [
          "web-0 begun",
          "web-1 begun",
        ]);
        assert.equal((await collect(driver.logs(spec.id, { ...previous, tail: 0 }))).length, 0);
      }),
  },
  {
    name: "events tell what happened, and following ends with the signal",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const spec = sampleSpec([sampleService(harness.image)]);
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        const abort = new AbortController();
        const reasons: string[] = [];
        for await (const event of driver.events(spec.id, stream({ follow: true, signal: abort.signal }))) {
          assert.ok(!Number.isNaN(Date.parse(event.time)));
          // A busy cluster may also report failed attempts.
          if (event.type === "Normal") reasons.push(event.reason);
          if (event.reason === "Started") {
            assert.deepEqual([event.service, event.object.kind, event.object.name], ["web", "Pod", "web-0"]);
            abort.abort();
          }
        }
        assert.deepEqual(reasons, ["Pulling", "Pulled", "Created", "Started"]);
        assert.deepEqual(await collect(driver.events(spec.id, stream({ services: ["other"] }))), []);
      }),
  },
  {
    name: "exec: output, input, exit code, and a clear refusal",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const spec = sampleSpec([sampleService(harness.image)]);
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        const run = (command: string[], input?: string) =>
          execute(driver, spec.id, { service: "web", command, ...(input === undefined ? {} : { input }) });
        assert.deepEqual(await run(["echo", "hello", "there"]), { code: 0, stdout: "hello there\n", stderr: "" });
        assert.equal((await run(["sh", "-c", "exit 7"])).code, 7);
        assert.equal((await run(["cat"], "through\n")).stdout, "through\n");
        const missing = await run(["no-such-program"]);
        assert.deepEqual([missing.code, missing.stdout], [127, ""]);
        assert.match(missing.stderr, /^.*no-such-program.*\n$/);
        await assert.rejects(execute(driver, spec.id, { service: "nope", command: ["true"] }), /nope.*web/);
        const request = { service: "web", replica: 5, command: ["true"], tty: false, stdin: false };
        await assert.rejects(driver.exec(spec.id, request), /web-5/);
      }),
  },
  {
    name: "exec: kill ends a command that would run on",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const spec = sampleSpec([sampleService(harness.image)]);
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        const request = { service: "web", replica: 0, command: ["sleep", "1000"], tty: false, stdin: true };
        const session = await driver.exec(spec.id, request);
        session.kill();
        await collect(session.output);
        assert.notEqual(await session.exitCode, 0);
      }),
  },
];
