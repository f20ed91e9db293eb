import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { flipBits } from "../../../test/support/provider/damage.ts";
import { Rng } from "../../../test/support/rng.ts";
import { type Logger, silentLogger } from "../../util/index.ts";
import { encodeJson } from "../durable.ts";
import type { Reservation } from "./inventory.ts";
import { Ledger } from "./ledger.ts";

const row = { id: 1, count: 1n, cpu: 300n, memory: 1n, gpu: 0n, volumes: [], endpoints: 1, ports: 2, leasedIps: [] };

function reservation(order: string, state: Reservation["state"] = "pending"): Reservation {
  return { order, state, rows: [{ ...row, gpuKinds: [] }], placement: [["host"]] };
}

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "svc-ledger-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const said: string[] = [];
  const note = (text: string) => void said.push(text);
  const log: Logger = { ...silentLogger, warn: note, error: note };
  const path = join(folder, "reservations.jsonl");
  return { folder, path, said, log, open: () => new Ledger(path, log) };
}

/** How often contents of files are brought to the disk from now on. */
async function countSyncs(beside: string): Promise<() => number> {
  const file = await openFile(`${beside}.probe`, "w");
  const spy = vi.spyOn(Object.getPrototypeOf(file), "datasync");
  onTestFinished(() => spy.mockRestore());
  await file.close();
  return () => spy.mock.calls.length;
}

test("the last state of every order is there after a restart", async () => {
  const { open } = setUp();
  const ledger = open();
  expect(ledger.load()).toEqual([]);
  for (const order of ["a", "b", "c"]) ledger.record(order, reservation(order));
  ledger.record("b", null);
  ledger.record("c", reservation("c", "active"));
  await ledger.durable();
  expect(open().load()).toEqual([reservation("a"), reservation("c", "active")]);
});

test("changes made at the same time share one write, which is on the disk when it is reported", async () => {
  const { open, path } = setUp();
  const ledger = open();
  const syncs = await countSyncs(path);
  ledger.record("0", reservation("0"));
  const writes = new Set<Promise<void>>();
  for (let i = 1; i < 1_000; i++) {
    ledger.record(`${i}`, reservation(`${i}`));
    writes.add(ledger.durable());
  }
  await Promise.all(writes);
  expect(writes.size).toBe(1);
  expect(readFileSync(path, "utf8").split("\n\n")).toHaveLength(1);
  // One for the first line, one for all others.
  expect(syncs()).toBeLessThanOrEqual(2);
  expect(syncs()).toBeGreaterThan(0);
  expect(open().load()).toHaveLength(1_000);
});

test("a change is added to the file, which is not written anew", async () => {
  const { open, path } = setUp();
  const ledger = open();
  ledger.record("0", reservation("0"));
  await ledger.durable();
  const { ino } = statSync(path);
  for (let i = 1; i < 20; i++) {
    ledger.record(`${i}`, reservation(`${i}`));
    await ledger.durable();
  }
  expect(statSync(path).ino).toBe(ino);
  expect(open().load()).toHaveLength(20);
});

test("the file is written anew before it grows far beyond what it holds", async () => {
  const { open, path } = setUp();
  const ledger = open();
  for (let i = 0; i < 30; i++) {
    for (let k = 0; k < 100; k++) ledger.record(`${k}`, k === 0 ? reservation("0") : null);
    await ledger.durable();
  }
  expect(readFileSync(path, "utf8").split("\n").length).toBeLessThan(1_300);
  expect(open().load()).toEqual([reservation("0")]);
});

test.each([
  ["a torn line", '["b",{"order":"b","sta'],
  ["bytes that are not JSON", "\u0000\u0001\u0002"],
  ["JSON of another shape", '{"order":"b"}'],
  ["a reservation without rows", '["b",{"order":"b"}]'],
])("%s costs that line alone, and the next write stands apart from it", async (_, damage) => {
  const { open, path, said } = setUp();
  const first = open();
  first.record("a", reservation("a"));
  await first.durable();
  appendFileSync(path, damage);
  const second = open();
  expect(second.load()).toEqual([reservation("a")]);
  expect(said).toEqual(["a damaged reservation is left out; it is taken from the chain again"]);
  second.record("c", reservation("c"));
  await second.durable();
  expect(open().load()).toEqual([reservation("a"), reservation("c")]);
});

test("a file that cannot be read counts as empty, is logged, and is not in the way", async () => {
  const { open, path, said } = setUp();
  mkdirSync(path);
  const ledger = open();
  expect(ledger.load()).toEqual([]);
  expect(said).toEqual(["reservations cannot be read; they are taken from the chain again"]);
  ledger.record("a", reservation("a"));
  await ledger.durable();
  expect(open().load()).toEqual([reservation("a")]);
});

test("what could not be written is refused, and written with the next change", async () => {
  const { open, path } = setUp();
  const ledger = open();
  mkdirSync(path);
  ledger.record("a", reservation("a"));
  await expect(ledger.durable()).rejects.toThrow("EISDIR");
  rmSync(path, { recursive: true });
  ledger.record("b", reservation("b"));
  await ledger.durable();
  expect(open().load()).toEqual([reservation("a"), reservation("b")]);
});

test("reservations of a release that wrote one list, and knew no kinds of GPU, still count", async () => {
  const { folder, open } = setUp();
  const { gpuKinds: _, ...oldRow } = { ...row, gpuKinds: undefined };
  const old = [{ order: "o1", state: "active", rows: [oldRow], placement: [["host"]] }];
  writeFileSync(join(folder, "reservations.json"), encodeJson(old));
  const ledger = open();
  expect(ledger.load()).toEqual([reservation("o1", "active")]);
  ledger.record("o2", reservation("o2"));
  await ledger.durable();
  expect(open().load()).toEqual([reservation("o1", "active"), reservation("o2")]);
});

test("no change of the file becomes a reservation that nobody made", async () => {
  const rng = new Rng(Math.floor(Math.random() * 2 ** 32));
  const { open, path } = setUp();
  const ledger = open();
  const all = Array.from({ length: 5 }, (_, i) => reservation(`svc1tenant/${i}/1/1`));
  for (const each of all) ledger.record(each.order, each);
  await ledger.durable();
  const whole = readFileSync(path);
  for (let round = 0; round < 100; round++) {
    writeFileSync(path, whole);
    const change = flipBits(path, (count) => rng.below(count));
    const loaded = open().load();
    expect(all, `seed ${rng.seed}: ${change}`).toEqual(expect.arrayContaining(loaded));
  }
});
