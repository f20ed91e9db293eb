import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { LeaseHealth } from "../../src/provider/cluster/contract/index.ts";
import type { DockerDriver } from "../../src/provider/cluster/docker/index.ts";
import type { ManifestService } from "../../src/sdl/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import {
  collect,
  sampleService,
  sampleSpec,
  scriptService,
  stream,
  untilHealth,
  untilOk,
  untilUpdated,
} from "../support/conformance/index.ts";
import { TestEngine } from "./engine.ts";

const missing = await TestEngine.missing();
if (missing !== undefined) console.warn(`GPU tests skipped: ${missing}`);

/** Devices that do not exist: each is a device node of the machine under another path, and a variable with its name. */
const NODES = ["/dev/null", "/dev/zero", "/dev/full"];
const VENDOR = `v${randomUUID().slice(0, 8)}`;
const KIND = `${VENDOR}.example/gpu`;
const RUN_FOLDER = "/var/run/cdi";

describe.skipIf(missing !== undefined)("engine driver and GPUs", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-cdi-"));
  const leases: LeaseKey[] = [];
  let engine: TestEngine;
  let driver: DockerDriver;

  beforeAll(async () => {
    describeDevices("0", "1", "2");
    engine = await TestEngine.start();
    driver = await open();
  });

  afterEach(async () => {
    for (const id of leases.splice(0)) await driver.teardown(id);
  });

  afterAll(async () => {
    await engine?.destroy("provider");
    rmSync(folder, { recursive: true, force: true });
    expect(readdirSync(RUN_FOLDER).filter((name) => name.includes(VENDOR))).toEqual([]);
  });

  function open(): Promise<DockerDriver> {
    const models = new Map([
      [`${KIND}=2`, { model: "a100", ram: "80Gi" }],
      [KIND, { model: "t4" }],
    ]);
    return engine.driver("provider", { gpus: { folders: [folder], models } });
  }

  function describeDevices(...names: string[]): void {
    const devices = names.map((name) => ({
      name,
      containerEdits: {
        env: [`SVC_TEST_GPU_${name}=given`],
        deviceNodes: [{ path: `/dev/test-gpu${name}`, hostPath: NODES[Number(name)] ?? "/dev/null" }],
      },
    }));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "test.json"), JSON.stringify({ cdiVersion: "0.3.0", kind: KIND, devices }));
  }

  /** A service that prints its devices and their variables. */
  function asking(units: number, model: string, overrides: Partial<ManifestService> = {}): ManifestService {
    const script = "echo $(ls /dev | grep test-gpu) $(env | grep SVC_TEST_GPU | sort) end; exec sleep 1000";
    const { resources, ...service } = scriptService(engine.image, script, overrides);
    const attributes = [{ key: `vendor/${VENDOR}/model/${model}`, value: "true" }];
    return { ...service, resources: { ...resources, gpu: { units: { val: units.toString() }, attributes } } };
  }

  async function deployed(...services: ManifestService[]): Promise<LeaseKey> {
    const spec = sampleSpec(services);
    leases.push(spec.id);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    return spec.id;
  }

  /** Numbers of the devices that the latest container of a lease has. */
  async function devicesOf(id: LeaseKey): Promise<string[]> {
    let found: string[] = [];
    await expect
      .poll(async () => {
        const lines = await collect(driver.logs(id, stream()));
        const line = lines.findLast(({ message }) => message.trim().endsWith("end"))?.message;
        found = [...(line ?? "").matchAll(/SVC_TEST_GPU_(\d)=given/g)].map((match) => match[1] ?? "");
        if (line !== undefined) expect([...line.matchAll(/test-gpu(\d)/g)].map((match) => match[1])).toEqual(found);
        return line;
      })
      .toBeDefined();
    return found;
  }

  it("kinds and counts are capacity", async () => {
    const { nodes } = await driver.capacity();
    expect(nodes[0]?.gpus).toEqual([
      { vendor: VENDOR, model: "t4", count: 2n },
      { vendor: VENDOR, model: "a100", ram: "80Gi", count: 1n },
    ]);
  });

  it("two leases never share a device, and one is free when its lease has ended", { timeout: 60_000 }, async () => {
    const [first, second] = await Promise.all([deployed(asking(1, "t4")), deployed(asking(1, "t4"))]);
    const third = await deployed(asking(1, "*"));
    expect([await devicesOf(first), await devicesOf(second)].flat().sort()).toEqual(["0", "1"]);
    expect(await devicesOf(third)).toEqual(["2"]);
    const none = await deployed(
      sampleService(engine.image, { command: ["sh", "-c"], args: ["echo end; exec sleep 1000"], expose: [] }),
    );
    expect(await devicesOf(none)).toEqual([]);
    // A fourth waits until one is free.
    const spec = sampleSpec([asking(1, "t4")]);
    leases.push(spec.id);
    await driver.deploy(spec);
    const isRefused = (text: string | undefined) => /1 GPUs of one kind wanted/.test(text ?? "");
    await untilHealth(driver, spec.id, ({ services }) => isRefused(services[0]?.error), "no device to be free");
    const freed = await devicesOf(first);
    await driver.teardown(first);
    await untilOk(driver, spec.id);
    expect(await devicesOf(spec.id)).toEqual(freed);
  });

  it("a replica keeps its devices over a restart of the daemon, of itself, and over an update", {
    timeout: 60_000,
  }, async () => {
    const id = await deployed(asking(2, "t4"));
    await driver.close();
    driver = await open();
    await untilOk(driver, id);
    expect(await devicesOf(id)).toEqual(["0", "1"]);
    // Unused devices stay free, also for a new driver.
    expect(await devicesOf(await deployed(asking(1, "*")))).toEqual(["2"]);
    await driver.restart(id, "web");
    const isRestarted = (health: LeaseHealth) => (health.services[0]?.replicas[0]?.restarts ?? 0) > 0;
    await untilHealth(driver, id, (health) => health.health === "ok" && isRestarted(health), "a restart");
    await driver.deploy(
      sampleSpec([asking(2, "t4", { env: ["B=c"] })], { id, generation: 2, version: "11".repeat(32) }),
    );
    await untilUpdated(driver, id, 2);
    expect(await devicesOf(id)).toEqual(["0", "1"]);
  });

  it("a kind that the host does not have, or not enough of, is refused", async () => {
    for (const service of [asking(3, "t4"), asking(1, "h100"), asking(2, "a100")]) {
      await expect(driver.check(sampleSpec([service]))).rejects.toThrow(/GPUs of a requested kind/);
    }
  });
});
