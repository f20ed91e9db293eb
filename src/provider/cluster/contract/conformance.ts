import assert from "node:assert/strict";
import { connect } from "node:net";
import type { ManifestExpose, ManifestService } from "../../../sdl/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import type { ClusterDriver, LeaseHealth, LeaseSpec, PortAssignment } from "./driver.ts";
import { isNodePortExpose } from "./expose.ts";

/** What a driver's test run provides. */
export interface ConformanceHarness {
  /** Opens the driver on its state; after `close()` a second call is the restarted daemon. */
  open(): Promise<ClusterDriver>;
  /** An image that serves HTTP on port 80 by default and has `sh`, `echo`, `sleep` and `cat`. */
  readonly image: string;
  /** The name of an image that does not exist. */
  readonly missingImage: string;
  /** A free port of the host. */
  freePort(): Promise<number>;
}

/** One rule that every driver keeps. A case uses leases of its own and removes them. */
export interface ConformanceCase {
  readonly name: string;
  run(harness: ConformanceHarness): Promise<void>;
}

let sequence = 0n;

/** A lease id that no other case uses. */
export function sampleLease(): LeaseKey {
  return { owner: "svc1tenant", dseq: ++sequence, gseq: 1, oseq: 1, provider: "svc1provider" };
}

export function sampleExpose(overrides: Partial<ManifestExpose> = {}): ManifestExpose {
  return {
    port: 80,
    externalPort: 80,
    proto: "TCP",
    service: "",
    global: true,
    hosts: null,
    httpOptions: { maxBodySize: 1 << 20, readTimeout: 60_000, sendTimeout: 60_000, nextTries: 3, nextTimeout: 0 },
    ip: "",
    endpointSequenceNumber: 0,
    ...overrides,
  };
}

/** A service with a tenth of a core, 64 MiB of memory and 64 MiB of disk. */
export function sampleService(image: string, overrides: Partial<ManifestService> = {}): ManifestService {
  return {
    name: "web",
    image,
    command: null,
    args: null,
    env: null,
    resources: {
      id: 1,
      cpu: { units: { val: "100" } },
      memory: { size: { val: String(64 << 20) } },
      storage: [{ name: "default", size: { val: String(64 << 20) } }],
      gpu: { units: { val: "0" } },
      endpoints: [],
    },
    count: 1,
    expose: [sampleExpose()],
    credentials: null,
    ...overrides,
  };
}

export function sampleSpec(services: readonly ManifestService[], overrides: Partial<LeaseSpec> = {}): LeaseSpec {
  return {
    id: overrides.id ?? sampleLease(),
    group: { name: "test", services },
    version: "00".repeat(32),
    generation: 1,
    hosts: new Map(),
    ports: [],
    ...overrides,
  };
}

/** A service that runs a shell script and exposes nothing. */
export function scriptService(
  image: string,
  script: string,
  overrides: Partial<ManifestService> = {},
): ManifestService {
  return sampleService(image, { command: ["sh", "-c"], args: [script], expose: [], ...overrides });
}

/** Waits for the condition on the lease's health; fails with the last health seen. */
export async function untilHealth(
  driver: ClusterDriver,
  id: LeaseKey,
  condition: (health: LeaseHealth) => boolean,
  what: string,
): Promise<LeaseHealth> {
  let health = await driver.status(id);
  for (let attempt = 0; attempt < 1_500; attempt++) {
    if (condition(health)) return health;
    await pause(20);
    health = await driver.status(id);
  }
  assert.fail(`waited for ${what}, the lease is ${JSON.stringify(health)}`);
}

export function untilOk(driver: ClusterDriver, id: LeaseKey): Promise<LeaseHealth> {
  return untilHealth(driver, id, (health) => health.health === "ok", "health ok");
}

/** Waits until everything runs in the given generation. */
export function untilUpdated(driver: ClusterDriver, id: LeaseKey, generation: number): Promise<LeaseHealth> {
  const done = (health: LeaseHealth) =>
    health.services.every((service) => service.generation === generation && service.updated === service.total);
  return untilHealth(driver, id, done, `generation ${generation}`);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function only<T>(list: readonly T[]): T {
  assert.equal(list.length, 1);
  return list[0] as T;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function stream(overrides: Partial<Parameters<ClusterDriver["logs"]>[1]> = {}): Parameters<ClusterDriver["logs"]>[1] {
  return { services: [], follow: false, tail: -1, signal: new AbortController().signal, ...overrides };
}

/** Opens, runs, and closes again whatever happens; leases given are removed first. */
async function withDriver(
  harness: ConformanceHarness,
  run: (driver: ClusterDriver, leases: LeaseKey[]) => Promise<void>,
): Promise<void> {
  const driver = await harness.open();
  const leases: LeaseKey[] = [];
  try {
    await run(driver, leases);
  } finally {
    for (const id of leases) await driver.teardown(id);
    await driver.close();
  }
}

/** Runs a command in replica 0 of the service; returns exit code and output. */
export async function execute(
  driver: ClusterDriver,
  id: LeaseKey,
  request: { readonly service: string; readonly command: readonly string[]; readonly input?: string },
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const { service, command, input } = request;
  const session = await driver.exec(id, { service, replica: 0, command, tty: false, stdin: input !== undefined });
  if (input !== undefined) {
    session.write(Buffer.from(input));
    session.endInput();
  }
  const text = { stdout: "", stderr: "" };
  for await (const output of session.output) text[output.stream] += Buffer.from(output.data).toString("utf8");
  return { code: await session.exitCode, ...text };
}

/** What a TCP port answers to a plain HTTP request. */
export function httpOver(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.0\r\n\r\n"));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    socket.on("end", () => resolve(answer));
    socket.on("error", reject);
  });
}

/** The rules of the contract, for every driver. */
export const clusterConformance: readonly ConformanceCase[] = [
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
        const response = await fetch(`http://${only(driver.backends(spec.id, "web", 80))}/`);
        assert.equal(response.status, 200);
        await response.text();
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
        const before = driver.backends(spec.id, "web", 80);
        await driver.deploy(spec);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        assert.deepEqual(driver.backends(spec.id, "web", 80), before);
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
        assert.equal(new Set(driver.backends(id, "web", 80)).size, 3);
        await driver.deploy(sampleSpec([sampleService(harness.image, { count: 1 })], { id, generation: 2 }));
        await untilHealth(driver, id, () => driver.backends(id, "web", 80).length === 1, "one replica");
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
        while ((await lines()).includes("one")) await pause(50);
        assert.deepEqual(await lines(), ["two", "two"]);
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
        assert.equal((await fetch(`http://${only(driver.backends(id, "web", 80))}/`)).status, 200);
      }),
  },
  {
    name: "a program that ends is started again and the exit code is told",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const spec = sampleSpec([scriptService(harness.image, "exit 3")]);
        leases.push(spec.id);
        await driver.deploy(spec);
        const again = (health: LeaseHealth) => (health.services[0]?.replicas[0]?.restarts ?? 0) > 0;
        const health = await untilHealth(driver, spec.id, again, "a restart");
        assert.equal(health.health, "bad");
        assert.match(only(health.services).error ?? "", /exit code 3/);
        const reasons = (await collect(driver.events(spec.id, stream()))).map((event) => event.reason);
        assert.ok(reasons.includes("BackOff"), reasons.join(" "));
      }),
  },
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
        assert.deepEqual(tail, [
          { name: "web-0", message: "three" },
          { name: "web-0", message: "four" },
        ]);
        const names = new Set((await collect(driver.logs(spec.id, stream()))).map((line) => line.name));
        assert.deepEqual([...names].sort(), ["web-0", "zed-0"]);
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
          reasons.push(event.reason);
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
    name: "exec: kill ends a command that would go on",
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
  {
    name: "a node port carries to the replicas",
    run: (harness) =>
      withDriver(harness, async (driver, leases) => {
        const hostPort = await harness.freePort();
        const expose = sampleExpose({ externalPort: 9000 });
        assert.ok(isNodePortExpose(expose));
        const ports: PortAssignment[] = [{ service: "web", port: 80, externalPort: 9000, proto: "TCP", hostPort }];
        const spec = sampleSpec([sampleService(harness.image, { expose: [expose], count: 2 })], { ports });
        leases.push(spec.id);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        assert.match(await httpOver(hostPort), /^HTTP\/1\.\d 200/);
        await driver.teardown(spec.id);
        await assert.rejects(httpOver(hostPort), /ECONNREFUSED/);
      }),
  },
  {
    name: "a restarted daemon finds its leases as they were",
    run: async (harness) => {
      const spec = sampleSpec([sampleService(harness.image)], { generation: 4, version: "ab".repeat(32) });
      const first = await harness.open();
      await first.deploy(spec);
      await untilOk(first, spec.id);
      const before = first.backends(spec.id, "web", 80);
      await first.close();
      await withDriver(harness, async (driver, leases) => {
        leases.push(spec.id);
        const found = (await driver.adopt()).filter((lease) => lease.id.dseq === spec.id.dseq);
        assert.deepEqual(found, [{ id: spec.id, version: spec.version, generation: 4 }]);
        const service = only((await untilOk(driver, spec.id)).services);
        assert.equal(service.replicas[0]?.restarts, 0);
        assert.deepEqual(driver.backends(spec.id, "web", 80), before);
        await driver.deploy(spec);
        await untilOk(driver, spec.id);
        assert.deepEqual(driver.backends(spec.id, "web", 80), before);
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
        assert.deepEqual(driver.backends(spec.id, "web", 80), []);
        const left = (await driver.adopt()).filter((lease) => lease.id.dseq === spec.id.dseq);
        assert.deepEqual(left, []);
        await driver.teardown(spec.id);
      }),
  },
  {
    name: "what can never run is refused and nothing is kept",
    run: (harness) =>
      withDriver(harness, async (driver) => {
        const service = sampleService(harness.image);
        const gpu = { ...service.resources, gpu: { units: { val: "1" } } };
        const spec = sampleSpec([{ ...service, resources: gpu }]);
        await assert.rejects(driver.deploy(spec), /GPU/);
        await assert.rejects(driver.deploy(sampleSpec([sampleService("not an image")])), /no image name/);
        const unassigned = sampleService(harness.image, { expose: [sampleExpose({ externalPort: 9000 })] });
        await assert.rejects(driver.deploy(sampleSpec([unassigned])), /no host port/);
        assert.deepEqual(await driver.adopt(), []);
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
        assert.deepEqual(driver.backends(id, "web", 80), []);
        await driver.teardown(id);
        const request = { service: "web", replica: 0, command: ["true"], tty: false, stdin: false };
        await assert.rejects(driver.exec(id, request), /no workload/);
      }),
  },
  {
    name: "node capacity and version are told",
    run: (harness) =>
      withDriver(harness, async (driver) => {
        const node = only(await driver.nodes());
        assert.ok(node.cpu > 0n && node.memory > 0n && node.storage > 0n);
        assert.ok(Object.keys(await driver.version()).length > 0);
      }),
  },
];
