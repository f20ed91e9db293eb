import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { saveJson } from "../durable.ts";
import { openInventory } from "./reservations.ts";

test("reservations of a release that knew no kinds of GPU still count", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-reservations-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const row = { id: 1, count: 1n, cpu: 300n, memory: 1n, gpu: 0n, volumes: [], endpoints: 1, ports: 2, leasedIps: [] };
  saveJson(join(folder, "reservations.json"), [{ order: "o1", state: "active", rows: [row], placement: [["host"]] }]);
  const inventory = openInventory(folder, { overcommit: { cpu: 0, memory: 0, storage: 0 }, portQuantity: 5 });
  const storage = [{ classes: "all" as const, bytes: 1n }];
  inventory.observe({ nodes: [{ name: "host", cpu: 1000n, memory: 10n, storage, gpus: [] }], storage: [] });
  expect(inventory.available()).toEqual([{ name: "host", cpu: 700n, memory: 9n, storage: 1n, gpu: 0n }]);
  expect(inventory.portsLeft()).toBe(3);
  expect(inventory.all()[0]?.rows[0]?.gpuKinds).toEqual([]);
});
