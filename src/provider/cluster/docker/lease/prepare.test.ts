import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { sampleService, sampleSpec } from "../../../../../test/support/conformance/index.ts";
import { silentLogger } from "../../../../util/index.ts";
import type { DriverContext } from "../context.ts";
import type { Lack } from "../host/fullness.ts";
import { type VolumeKey, Volumes } from "../host/volumes.ts";
import type { LeaseRecord } from "../journal.ts";
import { LABEL } from "../labels.ts";
import type { Observed } from "../replica/observe.ts";
import type { ServicePlan } from "../replica/plan.ts";
import { noteFullVolumes, remountVolumes } from "./prepare.ts";
import { LeaseState } from "./state.ts";
import { leaseHealth } from "./status.ts";

const UNIT = { id: "c", service: "web", index: 0, config: "", running: true, ports: new Map(), addresses: new Map() };

/** A lease of one service with a volume, and the exhausted resources of its volumes by name. */
function lease(): { state: LeaseState; lacks: Map<string, Lack>; events: string[]; run: (...units: object[]) => void } {
  const lacks = new Map<string, Lack>();
  const events: string[] = [];
  const volumes = { lackOf: async ({ volume }: VolumeKey) => lacks.get(volume.name) };
  const settings = { timing: {}, volumeSizeEnforcement: "loop" };
  const log = {
    add: (_: string, { reason, note }: { reason: string; note: string }) => events.push(`${reason} ${note}`),
  };
  const context = { settings, volumes, log: silentLogger, events: log, host: { hide: (text: string) => text } };
  const sample = sampleService("app");
  const attributes = [{ key: "persistent", value: "true" }];
  const storage = [...sample.resources.storage, { name: "data", size: { val: String(64 << 20) }, attributes }];
  const params = { storage: [{ name: "data", mount: "/data", readOnly: false }] };
  const spec = sampleSpec([{ ...sample, params, resources: { ...sample.resources, storage } }]);
  const record = { spec, images: {}, earlier: [], volumes: [], failed: {}, closing: false };
  const state = new LeaseState(context as unknown as DriverContext, record);
  const run = (...units: object[]) => {
    state.units = units.map(
      (unit) => ({ ...UNIT, labels: { [LABEL.generation]: "1" }, ...unit }) as unknown as Observed,
    );
    for (const unit of state.units) state.historyOf(unit).ready = true;
  };
  run({});
  return { state, lacks, events, run };
}

const DATA = "volume data of web-0 is full (64 MiB): delete files in it, or deploy again with a larger one";
const LAYER =
  "the ephemeral storage of web-0 is full (64 MiB): delete files outside of its volumes, or deploy again with more storage";

it("a full volume or layer is told once, stands in the status of a service that serves, and is told when it has room", async () => {
  const { state, lacks, events } = lease();
  await noteFullVolumes(state);
  expect([events, leaseHealth(state, true).services[0]?.error]).toEqual([[], undefined]);
  lacks.set("data", "room").set(".layer", "room");
  for (let pass = 0; pass < 3; pass++) await noteFullVolumes(state);
  expect(events).toEqual([`StorageFull ${DATA}`, `StorageFull ${LAYER}`]);
  expect(leaseHealth(state, true)).toMatchObject({ health: "ok", services: [{ available: 1, error: DATA }] });
  lacks.delete("data");
  for (let pass = 0; pass < 3; pass++) await noteFullVolumes(state);
  expect(events.slice(2)).toEqual(["StorageFreed volume data of web-0 has room again"]);
  expect(leaseHealth(state, true).services[0]?.error).toBe(LAYER);
});

it("a program that fails because its volume is full is told of it once", async () => {
  const { state, lacks, events, run } = lease();
  lacks.set("data", "files").set(".layer", "room");
  for (const units of [[{}], [{ running: false }], [], [{ id: "d" }], []]) {
    run(...units);
    await noteFullVolumes(state);
  }
  const text =
    "volume data of web-0 has as many files as it can: delete files in it, or deploy again with a larger one";
  expect(events.filter((event) => event.includes("data"))).toEqual([`StorageFull ${text}`]);
  expect([...state.full.keys()]).toEqual(["web-0.data"]);
});

it("a persistent volume is made once in the life of its lease: later it waits for its data", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-volumes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const root = join(folder, "volumes");
  const saved: (readonly string[])[] = [];
  const journal = { save: async ({ volumes }: LeaseRecord) => saved.push(volumes) };
  const { state: first } = lease();
  const context = { ...first.context, journal, volumes: new Volumes(root, "none") } as unknown as DriverContext;
  const state = new LeaseState(
    { ...context, settings: { ...context.settings, volumeSizeEnforcement: "none" } },
    first.record,
  );
  const [unit] = first.units;
  if (unit === undefined) throw new Error("the lease has no container");
  const plan = { volumes: [{ name: "data", persistent: true }] } as unknown as ServicePlan;
  const mount = () => remountVolumes(state, plan, unit);
  await mount();
  const file = join(root, state.namespace, "web-0.data.mnt", "data", "file");
  writeFileSync(file, "kept");
  renameSync(root, `${root}-away`);
  await expect(mount()).rejects.toThrow("the data of volume data is missing on the provider's disk");
  expect(readdirSync(folder)).toEqual(["volumes-away"]);
  renameSync(`${root}-away`, root);
  await mount();
  expect([saved, existsSync(file)]).toEqual([[["web-0.data"]], true]);
});
