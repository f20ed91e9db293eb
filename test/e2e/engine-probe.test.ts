import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { EngineApi } from "../../src/provider/cluster/docker/api/api.ts";
import { ensureImage } from "../../src/provider/cluster/docker/images/made.ts";
import type { DockerDriver } from "../../src/provider/cluster/docker/index.ts";
import { probeLease } from "../../src/provider/cluster/index.ts";
import { CONNECTIONS_PER_ADDRESS, Ingress, ingressRouter } from "../../src/provider/ingress/index.ts";
import { Probe } from "../../src/provider/probe/index.ts";
import { tryContainer } from "../../src/provider/probe/trial.ts";
import { HOST_REASONS, type HostFault, type HostReason } from "../../src/provider/reasons.ts";
import { silentLogger } from "../../src/util/index.ts";
import { parseNetworks } from "../../src/util/servers/index.ts";
import { sampleService, sampleSpec, untilOk } from "../support/conformance/index.ts";
import { waitFor } from "../support/index.ts";
import { atNight } from "../support/runs.ts";
import { TestEngine } from "./engine.ts";

const missing = await TestEngine.missing();
if (missing !== undefined) console.warn(`engine probe tests skipped: ${missing}`);

const OWNER = "svc1provider";

/** Errors of a runtime that fails to make a container. */
const WAYS: readonly (readonly [HostReason, string])[] = [
  ["limits", "error setting rlimit type 12: operation not permitted"],
  [
    "seccomp",
    "unable to start container process: error during container init: unable to init seccomp: error loading seccomp filter into kernel: invalid argument",
  ],
  ["cgroup", "unable to apply cgroup configuration: mkdir /sys/fs/cgroup/memory/libpod_parent: permission denied"],
  ["mount", "error mounting /var/lib/containers/storage/x to rootfs at /etc/hosts: operation not permitted"],
  ["network", "netavark: failed to create bridge: Operation not supported (os error 95)"],
  ["space", "mkdir /run/user/0/x: no space left on device"],
  ["hook", "error executing hook /etc/containers/oci/hooks.d/guard (exit code: 1)"],
  ["architecture", "exec /probe: exec format error"],
  ["apparmor", "apparmor failed to apply profile: write /proc/self/attr/exec: no such file or directory"],
  ["timeout", "sleep"],
];

/** Words of an image that an engine repeats when it refuses the image. */
const POISON = ["catatonit", "error setting rlimit type 6: operation not permitted"];

/** A runtime that prints the file beside it as its error, and works without that file. */
function failingRuntime(folder: string): string {
  const path = join(folder, "runc");
  const script = `#!/bin/sh
said=$(cat ${folder}/said 2>/dev/null)
case " $* " in *" create "*)
  if [ "$said" = sleep ]; then sleep 4; said="context canceled"; fi
  if [ -n "$said" ]; then echo "runc create failed: $said" >&2; exit 1; fi;;
esac
exec runc "$@"
`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

describe.skipIf(missing !== undefined)("the trial of a container", () => {
  let engine: TestEngine;
  let driver: DockerDriver;
  let ingress: Ingress;
  let port = 0;

  beforeAll(async () => {
    engine = await TestEngine.start({}, { processes: 30_000, runtime: failingRuntime });
    driver = await engine.driver("provider", { allowLocalImages: true });
    const { routing } = driver;
    const clients = {
      connectionsPerAddress: CONNECTIONS_PER_ADDRESS,
      trustedProxies: parseNetworks([]),
      forwardedFrom: parseNetworks([]),
    };
    ingress = new Ingress({ backends: routing.backends.bind(routing), host: "127.0.0.1", port: 0, clients });
    port = await ingress.listen();
  });

  afterEach(() => rmSync(join(engine.folder, "said"), { force: true }));

  afterAll(async () => {
    await ingress?.close();
    await engine?.destroy("provider");
  });

  const options = () => ({
    driver,
    provider: OWNER,
    router: ingressRouter(ingress, { port, loopbackPorts: false }),
    ingress: () => ({ host: "127.0.0.1", port }),
  });

  async function tried(timeoutMs = 30_000): Promise<HostFault | undefined> {
    let found: HostFault | undefined;
    const { probe } = driver;
    if (probe === undefined) throw new Error("the driver has no trial");
    await tryContainer({ ...options(), probe, timeoutMs }, (fault) => {
      found = fault;
    });
    return found;
  }

  it("passes, also where the engine's own limits are lower, and leaves nothing", async () => {
    expect(await tried()).toBeUndefined();
    expect(JSON.parse(await engine.podman("ps", "--all", "--format", "json"))).toEqual([]);
    expect(await driver.adopt()).toEqual([]);
    expect(existsSync(join(engine.folder, "provider", "leases"))).toBe(true);
    const spec = sampleSpec([sampleService(engine.image)]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    await driver.teardown(spec.id);
  });

  it.each(WAYS)("tells %s in one sentence with its remedy", async (reason, said) => {
    writeFileSync(join(engine.folder, "said"), said);
    const fault = await tried(reason === "timeout" ? 1_500 : 30_000);
    expect(fault?.reason).toBe(reason);
    expect(fault?.text).toContain(HOST_REASONS[reason].remedy);
  });

  atNight(() =>
    it("goes on after a crash: the next one removes what was left", async () => {
      const left = { ...sampleSpec([sampleService(engine.image)]), id: probeLease(OWNER) };
      await driver.deploy(left);
      await untilOk(driver, left.id);
      expect(await driver.adopt()).toEqual([]);
      expect(await tried()).toBeUndefined();
      expect(JSON.parse(await engine.podman("ps", "--all", "--format", "json"))).toEqual([]);
    }),
  );

  it("shows tenants nothing of what a runtime says", async () => {
    const secret = "token=hunter2";
    writeFileSync(join(engine.folder, "said"), `open /var/tmp/private: ${secret} at 10.3.2.1:5000`);
    const spec = sampleSpec([sampleService(engine.image)]);
    await driver.deploy(spec);
    await waitFor(async () => (await driver.status(spec.id)).services[0]?.error !== undefined, "the failed start");
    const told: string[] = [JSON.stringify(await driver.status(spec.id))];
    const stream = { services: [], follow: false, tail: -1, signal: new AbortController().signal };
    for await (const event of driver.events(spec.id, stream)) told.push(event.note);
    expect(told.join(" ")).toContain(HOST_REASONS.engine.tenant);
    expect(told.join(" ")).not.toMatch(/hunter2|var\/tmp|10\.3|runc/);
    await driver.teardown(spec.id);
  });

  /** Configuration of a tenant's container. */
  async function given(): Promise<string> {
    const spec = sampleSpec([sampleService(engine.image)]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    const format = "{{json .HostConfig.Ulimits}} {{.HostConfig.Init}}";
    const said = await engine.podman(
      "inspect",
      "--format",
      format,
      ...(await engine.podman("ps", "-q")).trim().split("\n"),
    );
    await driver.teardown(spec.id);
    return said.trim();
  }

  it("keeps the init process and limits of all tenants whatever words an image holds", async () => {
    const api = await EngineApi.open(engine.socket, { call: 60_000, work: 120_000 });
    const before = await given();
    expect(before).toMatch(/ true$/);
    for (const [index, words] of POISON.entries()) {
      const tag = `localhost/poison:${index}`;
      const config = { Cmd: ["/probe"], StopSignal: words };
      await ensureImage(api, { tag, config, tree: async () => Buffer.alloc(1024) });
      const spec = sampleSpec([sampleService(tag)]);
      await driver.deploy(spec);
      await waitFor(async () => (await driver.status(spec.id)).services[0]?.error !== undefined, "the failed start");
      await driver.teardown(spec.id);
    }
    expect(await given()).toBe(before);
  });

  it("begins when every lease fails, and when the engine is back", async () => {
    const states: string[] = [];
    const probe: Probe = new Probe({ ...options(), log: silentLogger, changed: () => states.push(probe.state.kind) });
    probe.begin();
    await waitFor(() => probe.state.kind === "passed", "the first trial");
    writeFileSync(join(engine.folder, "said"), "unable to apply cgroup configuration");
    const spec = sampleSpec([sampleService(engine.image)]);
    await driver.deploy(spec);
    await waitFor(() => probe.fault?.reason === "cgroup", "the fault");
    const [service] = (await driver.status(spec.id)).services;
    expect(service?.error).toBe(`web-0 could not be started: ${HOST_REASONS.cgroup.tenant}`);
    rmSync(join(engine.folder, "said"));
    states.length = 0;
    await engine.stopService();
    await engine.startService();
    await waitFor(() => states.includes("probing"), "a trial after the return of the engine");
    await waitFor(() => probe.state.kind === "passed", "its end");
    await driver.teardown(spec.id);
    await probe.close();
  });
});
