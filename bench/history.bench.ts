/**
 * The state with its history: a start with many keys, what blocks cost and leave on disk, and reads of older heights.
 *
 *   npm run bench -- history [keys] [blocks]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openLmdb, PRUNING_STRATEGIES, type Pruning, pastTables, StateStore } from "../src/store/index.ts";
import { Report } from "./lib/report.ts";

const STORES = ["bank"];
/** The approximate changes of a block without transactions on a chain with validators. */
const IDLE_CHANGES = 20;
const READS = 2_000;
const MEGABYTE = 1024 * 1024;

interface Start {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

if (process.send === undefined) await measure();
else process.send(start(process.argv[2] ?? ""));

async function measure(): Promise<void> {
  const [keys = 1_000_000, blocks = 10_000] = process.argv.slice(2).map(Number);
  const method =
    `A store of ${keys} keys of 27 bytes on LMDB, opened in a process of its own, which rebuilds the tree and checks it ` +
    `against the last commit; then ${blocks} blocks of ${IDLE_CHANGES} changes each, and reads of the height before them.`;
  const report = new Report("history", method);
  const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    fill(directory, keys);
    const starts: Start[] = [];
    for (let run = 0; run < 3; run++) starts.push(await startApart(directory));
    const of = (pick: (start: Start) => number) => starts.map(pick);
    report.add({ name: "rebuild at start", unit: "s", samples: of((s) => s.seconds) });
    report.add({ name: "rebuild at start: CPU", unit: "s", samples: of((s) => s.cpuSeconds), target: { atMost: 10 } });
    report.add({
      name: "most memory of that process",
      unit: "MB",
      samples: of((s) => s.megabytes),
      target: { atMost: 400 },
    });
    measureReads(report, directory, { keys, blocks });
    for (const strategy of ["everything", "default"] as const)
      report.add({
        name: `disk for ${blocks} blocks, pruning ${strategy}`,
        unit: "MB",
        samples: [growth(blocks, PRUNING_STRATEGIES[strategy])],
      });
    report.save();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function keyOf(n: number): Uint8Array {
  const key = Buffer.alloc(27, 7);
  key.writeUInt32BE(Math.imul(n + 1, 2654435761) >>> 0, 1);
  key.writeUInt32BE(n, 17);
  return key;
}

function fill(directory: string, keys: number): void {
  const database = openLmdb(directory);
  const state = StateStore.open(database, STORES);
  const branch = state.branch();
  for (let n = 0; n < keys; n++) branch.store("bank").set(keyOf(n), Buffer.from("1000000000"));
  state.commit(1n, state.workingHash(branch));
  database.close();
}

async function startApart(directory: string): Promise<Start> {
  const child = fork(fileURLToPath(import.meta.url), [directory], { execArgv: [] });
  const [message] = await once(child, "message");
  await once(child, "exit");
  return message;
}

function start(directory: string): Start {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const database = openLmdb(directory);
  StateStore.open(database, STORES);
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  database.close();
  // The kernel can take back the memory of the mapped file, which counts all the same.
  return { seconds, cpuSeconds: (user + system) / 1e6, megabytes: process.resourceUsage().maxRSS / 1024 };
}

function block(state: StateStore, height: number, keys: number): void {
  const branch = state.branch();
  for (let i = 0; i < IDLE_CHANGES; i++) {
    // Half of the keys change in every block, as totals do.
    const n = i % 2 === 0 ? i : (height * 7919 + i * 104_729) % keys;
    branch.store("bank").set(keyOf(n), Buffer.from(`${1_000_000_000 + height}`));
  }
  state.commit(BigInt(height), state.workingHash(branch));
}

function measureReads(report: Report, directory: string, { keys, blocks }: { keys: number; blocks: number }): void {
  const database = openLmdb(directory);
  const state = StateStore.open(database, STORES);
  for (let height = 2; height <= blocks + 1; height++) block(state, height, keys);
  const each = (work: (n: number) => void): number => {
    const cpu = process.cpuUsage();
    for (let n = 0; n < READS; n++) work(n);
    const { user, system } = process.cpuUsage(cpu);
    return (user + system) / READS;
  };
  const flat = database.table("state/bank");
  report.add({
    name: "read of the last height",
    unit: "us",
    samples: [each((n) => flat.get(keyOf((n * 7919) % keys)))],
  });
  for (const [name, height] of [
    ["100 blocks", blocks - 99],
    [`${blocks} blocks`, 1],
  ] as const) {
    const past = pastTables(database, BigInt(height))?.store("bank");
    if (past === undefined) throw new Error("the height is kept");
    report.add({
      name: `read of the height ${name} back`,
      unit: "us",
      samples: [each((n) => past.get(keyOf((n * 7919) % keys)))],
    });
    let rows = 0;
    const cpu = process.cpuUsage();
    for (const _ of past.iterate()) if (++rows === 200_000) break;
    const { user, system } = process.cpuUsage(cpu);
    report.add({ name: `walk at the height ${name} back, per row`, unit: "us", samples: [(user + system) / rows] });
  }
  report.add({
    name: `proof of the height ${blocks - 50}`,
    unit: "us",
    samples: [each((n) => state.prove("bank", keyOf((n * 7919) % keys), BigInt(blocks - 50)))],
  });
  database.close();
}

function growth(blocks: number, pruning: Pruning): number {
  const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    const database = openLmdb(directory);
    const state = StateStore.open(database, STORES, { pruning });
    for (let height = 1; height <= blocks; height++) block(state, height, 10_000);
    database.close();
    return statSync(join(directory, "data.mdb")).size / MEGABYTE;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
