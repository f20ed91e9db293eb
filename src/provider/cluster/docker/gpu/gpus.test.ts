import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { silentLogger } from "../../../../util/index.ts";
import { LABEL, type Labels, Naming } from "../labels.ts";
import { Gpus, type TakenGpus } from "./gpus.ts";

const INFO = { architecture: "amd64", cpus: 1, memory: 1, root: "/", runtimes: [], mapsUsers: false, takesCdi: true };

/** Two devices, on an engine whose containers are `made`. */
function twoDevices() {
  const folder = mkdtempSync(join(tmpdir(), "svc-gpus-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const devices = ["0", "1"].map((name) => ({ name, containerEdits: { deviceNodes: [{ path: `/dev/x${name}` }] } }));
  writeFileSync(join(folder, "x.json"), JSON.stringify({ cdiVersion: "0.5.0", kind: "x.com/gpu", devices }));
  const made: { id: string; labels: Labels }[] = [];
  const api = { listLabelled: async () => [...made], info: async () => INFO };
  const health = { kind: "docker" };
  const gpus = new Gpus({
    api,
    health,
    naming: new Naming("svc-t"),
    log: silentLogger,
    models: new Map(),
    folders: [folder],
  });
  const take = (namespace: string, make: (taken: TakenGpus) => Promise<string>) =>
    gpus.take({ namespace, service: "web", index: 0 }, { units: 1, wishes: [] }, make);
  return { made, take };
}

it("waits for no container of another lease that the engine is still making, and gives its device to nobody else", async () => {
  const { made, take } = twoDevices();
  let fail: (error: Error) => void = () => {};
  const begun = new Promise<string>((resolve) => {
    const hanging = take("one", ({ labels }) => {
      resolve(labels[LABEL.gpus] ?? "");
      return new Promise<string>((_, reject) => (fail = reject));
    });
    hanging.catch(() => {});
  });
  const first = await begun;
  const second = await take("two", async ({ labels }) => {
    made.push({ id: "second", labels });
    return labels[LABEL.gpus] ?? "";
  });
  expect(new Set([first, second])).toEqual(new Set(["x.com/gpu=0", "x.com/gpu=1"]));
  await expect(take("three", async () => "made")).rejects.toThrow(/fewer are free/);
  fail(new Error("the engine hangs"));
  // A device of a failed creation is free again.
  await expect.poll(() => take("three", async ({ labels }) => labels[LABEL.gpus] ?? "").catch(() => "")).toBe(first);
});

it("says once that two files describe one device, and offers the others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-gpus-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (file: string, ...names: string[]) => {
    const devices = names.map((name) => ({ name, containerEdits: { deviceNodes: [{ path: `/dev/x${name}` }] } }));
    writeFileSync(join(folder, file), JSON.stringify({ cdiVersion: "0.5.0", kind: "x.com/gpu", devices }));
  };
  write("a.json", "0", "1");
  write("b.json", "0");
  const warned: unknown[] = [];
  const gpus = new Gpus({
    api: { listLabelled: async () => [], info: async () => INFO },
    health: { kind: "docker" },
    naming: new Naming("svc-t"),
    log: { ...silentLogger, warn: (_, fields) => void warned.push(fields?.err) },
    models: new Map(),
    folders: [folder],
  });
  for (let looks = 0; looks < 3; looks++)
    expect((await gpus.devices()).map(({ name }) => name)).toEqual(["x.com/gpu=1"]);
  expect(warned).toEqual([expect.stringContaining("both describe x.com/gpu=0")]);
});
