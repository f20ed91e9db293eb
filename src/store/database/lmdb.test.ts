import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { openLmdb, openLmdbReader, StateStore, storeErrors } from "../index.ts";

const scratch = mkdtempSync(join(tmpdir(), "svc-lmdb-"));
const script = join(scratch, "child.mjs");
const readerScript = join(scratch, "reader.mjs");
const children = new Set<ChildProcess>();

beforeAll(async () => {
  writeFileSync(join(scratch, "child.ts"), CHILD);
  writeFileSync(join(scratch, "reader.ts"), READER);
  await build({
    entryPoints: [join(scratch, "child.ts"), join(scratch, "reader.ts")],
    outdir: scratch,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    alias: { store: join(import.meta.dirname, "..", "index.ts"), lmdb: import.meta.resolve("lmdb") },
    external: ["file:*"],
  });
});

afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});

/**
 * Commits blocks forever. Block h sets the same 40 keys in two stores to h, and its own key; the caller's table
 * gets the block in the same transaction. Each height is printed when its commit has returned.
 */
const CHILD = `
import { writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openLmdb, StateStore } from "store";
const [directory, hold] = process.argv.slice(2);
try {
  const database = openLmdb(directory);
  const state = StateStore.open(database, ["auth", "bank"]);
  writeSync(1, "open\\n");
  if (hold === "hold") {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc");
    let rounds = 0;
    const timer = setInterval(() => {
      collect();
      if (++rounds < 5) return;
      clearInterval(timer);
      writeSync(1, "collected\\n");
    }, 20);
    setInterval(() => database, 1000);
  }
  else for (let height = state.height + 1n; ; height++) {
    const branch = state.branch();
    const value = Buffer.from(String(height));
    for (const name of ["auth", "bank"]) {
      const store = branch.store(name);
      for (let i = 0; i < 40; i++) store.set(Buffer.from("key " + i), value);
      store.set(Buffer.from("height " + height), value);
      if (height > 5n) store.delete(Buffer.from("height " + (height - 5n)));
    }
    state.commit(height, state.workingHash(branch), { writes: [{ table: "blocks", key: value, value }] });
    writeSync(1, height + "\\n");
  }
} catch (error) {
  writeSync(1, "refused: " + error.message + "\\n");
}
`;

/** Reads two tables repeatedly and reports values that do not fit together; at the end, and first, the last value. */
const READER = `
import { parentPort, workerData } from "node:worker_threads";
import { openLmdbReader } from "store";
const reader = openLmdbReader(workerData, ["a", "b"]);
const key = Uint8Array.of(1);
const valueIn = (table) => Number(Buffer.from(reader.table(table).get(key)).toString());
let last = -1;
let isEnding = false;
parentPort.on("message", () => { isEnding = true; });
const look = () => {
  const isLast = isEnding;
  reader.refresh();
  const [a, b] = [valueIn("a"), valueIn("b")];
  const rows = [...reader.table("a").iterate()].length - 2;
  if (a !== b || rows !== a) parentPort.postMessage("tables of different moments: " + [a, b, rows]);
  if (a < last) parentPort.postMessage("earlier: " + [last, a]);
  if (a !== last) parentPort.postMessage(String(a));
  last = a;
  if (isLast) process.exit(0);
  setTimeout(look, 0);
};
look();
`;

function start(
  directory: string,
  hold: "hold" | "work",
  before: readonly string[] = [],
): { child: ChildProcess; output: () => string } {
  const [command = "", ...words] = [...before, process.execPath, script, directory, hold];
  const child = spawn(command, words, { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  let output = "";
  child.stdout?.on("data", (data: Buffer) => {
    output += data.toString();
  });
  return { child, output: () => output };
}

async function until(condition: () => boolean, child: ChildProcess): Promise<void> {
  while (!condition()) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("the child ended early");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
  children.delete(child);
}

function heightsIn(output: string): bigint[] {
  return [...output.matchAll(/^(\d+)$/gm)].map((match) => BigInt(match[1] ?? "0"));
}

/** Everything that must agree after a kill; gives the height found. */
function checkWhole(directory: string): bigint {
  const database = openLmdb(directory);
  try {
    const state = StateStore.open(database, ["auth", "bank"]);
    const height = state.height;
    const value = Buffer.from(String(height));
    for (const name of ["auth", "bank"]) {
      for (let i = 0; i < 40; i++)
        expect(
          state
            .store(name)
            .get(Buffer.from(`key ${i}`))
            ?.toString(),
        ).toBe(value.toString());
      const own = [...state.store(name).iterate({ start: Buffer.from("height "), end: Buffer.from("height:") })];
      expect(own).toHaveLength(Number(height < 5n ? height : 5n));
    }
    const blocks = database.table("blocks");
    expect(blocks.has(value)).toBe(true);
    expect(blocks.has(Buffer.from(String(height + 1n)))).toBe(false);
    return height;
  } finally {
    database.close();
  }
}

describe("an LMDB state killed at any moment", () => {
  test("holds the last commit whole, and nothing of the next", async () => {
    const directory = join(scratch, "killed");
    let before = 0n;
    for (let round = 0; round < 6; round++) {
      const { child, output } = start(directory, "work");
      const wanted = 1 + round * 7;
      await until(() => heightsIn(output()).length >= wanted, child);
      await kill(child);
      const reported = heightsIn(output()).at(-1) ?? 0n;
      const found = checkWhole(directory);
      // A commit may have ended between the transaction and its report, or been reported and not read before the kill.
      expect(found).toBeGreaterThanOrEqual(reported);
      expect(found).toBeLessThanOrEqual(reported + 1n);
      expect(found).toBeGreaterThan(before);
      before = found;
    }
  });
});

describe("the lock of a database directory", () => {
  test("keeps other processes out while one lives, and lets go when it is killed", async () => {
    const directory = join(scratch, "locked");
    const holder = start(directory, "hold");
    await until(() => holder.output().includes("open\n"), holder.child);
    expect(() => openLmdb(directory)).toThrow(
      `process ${holder.child.pid} has ${directory} open: the database is in use`,
    );
    try {
      openLmdb(directory);
    } catch (error) {
      expect(error).toMatchObject({
        code: storeErrors.inUse.code,
        hint: expect.stringContaining("stop the other process"),
      });
    }
    await kill(holder.child);
    openLmdb(directory).close();
  });

  test("is taken where its files became folders, or its folder a file", () => {
    for (const name of ["data.mdb", "lock.mdb"]) {
      const directory = join(scratch, `damaged-${name}`);
      mkdirSync(join(directory, "lock", name, "full"), { recursive: true });
      openLmdb(directory).close();
    }
    const directory = join(scratch, "damaged-lock");
    mkdirSync(directory);
    writeFileSync(join(directory, "lock"), "a file");
    openLmdb(directory).close();
  });

  test.each([0, 1, 159, 160, 4095, 4096, 4200, 8191])("is taken where its file was cut to %d bytes", (size) => {
    const directory = join(scratch, `cut-${size}`);
    openLmdb(directory).close();
    truncateSync(join(directory, "lock", "data.mdb"), size);
    openLmdb(directory).close();
  });

  test("outlives the garbage collections of its owner", async () => {
    const directory = join(scratch, "collected");
    const holder = start(directory, "hold");
    await until(() => holder.output().includes("collected\n"), holder.child);
    expect(() => openLmdb(directory)).toThrow(`process ${holder.child.pid} has ${directory} open`);
    await kill(holder.child);
  });

  // Each container has a process 1.
  test.skipIf(process.getuid?.() !== 0)(
    "holds among processes of one number, each in a namespace of its own",
    async () => {
      const directory = join(scratch, "contained");
      const contained = ["unshare", "--pid", "--fork", "--kill-child"];
      const holder = start(directory, "hold", contained);
      await until(() => holder.output().includes("collected\n"), holder.child);
      const other = start(directory, "hold", contained);
      await until(() => other.output() !== "", other.child);
      expect(other.output()).toContain(`refused: another process of the number 1 has ${directory} open`);
      await Promise.all([kill(other.child), kill(holder.child)]);
      openLmdb(directory).close();
    },
  );

  test("holds after the owner's snapshots and writes", async () => {
    const directory = join(scratch, "owned");
    const database = openLmdb(directory);
    try {
      const snapshot = database.snapshot();
      const entries = database.table("t").iterate();
      database.write([{ table: "t", key: Buffer.from("a"), value: Buffer.from("1") }]);
      entries.return?.();
      snapshot.close();
      database.write([{ table: "t", key: Buffer.from("a"), value: Buffer.from("2") }]);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const other = start(directory, "hold");
      await once(other.child, "close");
      expect(other.output()).toContain(`refused: process ${process.pid} has`);
    } finally {
      database.close();
    }
  });
});

describe("a reader in another thread", () => {
  /** A thread that answers a key of table `a` with its value, through its own database. */
  const THREAD = `
    const { parentPort, workerData } = require("node:worker_threads");
    const { open } = require("lmdb");
    const binary = { keyEncoding: "binary", encoding: "binary", cache: false };
    const root = open(workerData, { ...binary, noSubdir: false, maxDbs: 128, readOnly: true });
    const table = root.openDB("a", binary);
    parentPort.on("message", () => { root.resetReadTxn(); parentPort.postMessage(table.getBinary(Uint8Array.of(1))?.[0]); });
  `;

  it("sees each commit, may end in the midst of reading, and leaves no page held", async () => {
    const directory = join(scratch, "read");
    const database = openLmdb(directory);
    const write = (value: number, bulk?: []): void =>
      database.write([{ table: "a", key: Uint8Array.of(1), value: Uint8Array.of(value) }], bulk);
    write(0);
    const thread = new Worker(THREAD, { eval: true, workerData: directory });
    for (const value of [1, 2, 3]) {
      // The thread knows no journal.
      write(value, []);
      thread.postMessage("read");
      expect((await once(thread, "message"))[0]).toBe(value);
    }
    thread.postMessage("read");
    await thread.terminate();
    const reader = openLmdbReader(directory, ["a"]);
    write(4);
    reader.refresh();
    expect(reader.table("a").get(Uint8Array.of(1))?.[0]).toBe(4);
    expect(() => reader.table("b")).toThrow('table "b" is not among those that are read');
    reader.close();
    write(5);
    expect(database.table("a").get(Uint8Array.of(1))?.[0]).toBe(5);
    database.close();
  });

  it("sees all tables at one moment, and never an earlier one, whether changes come by the journal or not", async () => {
    const directory = join(scratch, "journaled");
    const database = openLmdb(directory);
    const write = (value: number, bulk?: []): void => {
      const rows = ["a", "b"].map((table) => ({ table, key: Uint8Array.of(1), value: Buffer.from(`${value}`) }));
      database.write([...rows, { table: "a", key: Buffer.from(`row ${value}`), value: Uint8Array.of(1) }], bulk);
    };
    write(0);
    const thread = new Worker(readerScript, { workerData: directory });
    const ended = once(thread, "exit");
    const seen: string[] = [];
    thread.on("message", (text: string) => seen.push(text));
    await once(thread, "message");
    for (let value = 1; value <= 1_500; value++) {
      write(value, value % 7 === 0 || value % 100 < 3 ? [] : undefined);
      if (value % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    thread.postMessage("end");
    await ended;
    expect(seen.filter((text) => !/^\d+$/.test(text))).toEqual([]);
    expect(seen.at(-1)).toBe("1500");
    expect(new Set(seen).size).toBeGreaterThan(5);
    database.close();
    const again = openLmdb(directory);
    expect([...again.table("a").iterate()]).toHaveLength(1_502);
    again.close();
  });

  it("gives values of one type, from the journal and from tables", () => {
    const database = openLmdb(join(scratch, "types"));
    const [first, second] = [1, 2].map((key) => ({ table: "a", key: Uint8Array.of(key), value: Uint8Array.of(9) }));
    if (first === undefined || second === undefined) throw new Error("two rows");
    database.write([first], []);
    database.write([second]);
    const [stored, pending] = [...database.table("a").iterate()];
    expect(pending?.[1]).toStrictEqual(stored?.[1]);
    expect(Buffer.isBuffer(pending?.[0])).toBe(Buffer.isBuffer(stored?.[0]));
    database.close();
  });

  it("sees what was there at its first look until it looks anew, whatever is written meanwhile", async () => {
    const directory = join(scratch, "held");
    const database = openLmdb(directory);
    const write = (value: number, bulk?: []): void =>
      database.write(
        ["a", "b"].map((table) => ({ table, key: Uint8Array.of(1), value: Uint8Array.of(value) })),
        bulk,
      );
    write(0, []);
    const reader = openLmdbReader(directory, ["a", "b"]);
    const valueIn = (table: string) => reader.table(table).get(Uint8Array.of(1))?.[0];
    expect(valueIn("a")).toBe(0);
    for (const [value, bulk] of [[1], [2, []], [3]] as const) {
      write(value, bulk === undefined ? undefined : []);
      // The library ends its own transactions in between.
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect([valueIn("a"), valueIn("b"), [...reader.table("a").iterate()][0]?.[1][0]]).toEqual([0, 0, 0]);
    }
    reader.refresh();
    expect([valueIn("b"), valueIn("a")]).toEqual([3, 3]);
    reader.close();
    database.close();
  });

  it("gives the same array for the same key while its bytes are the same, and never one of other bytes", () => {
    const directory = join(scratch, "same");
    const database = openLmdb(directory);
    const [key, other] = [Uint8Array.of(1), Uint8Array.of(2)];
    const write = (value: Uint8Array): void => database.write([{ table: "a", key, value }]);
    write(Uint8Array.of(1, 2, 3));
    database.write([{ table: "a", key: other, value: Uint8Array.of(9, 9, 9, 9) }]);
    const reader = openLmdbReader(directory, ["a"]);
    const read = (): Uint8Array | undefined => {
      reader.refresh();
      return reader.table("a").get(key);
    };
    const first = read();
    expect([...(first ?? [])]).toEqual([1, 2, 3]);
    expect(read()).toBe(first);
    expect([...(reader.table("a").get(other) ?? [])]).toEqual([9, 9, 9, 9]);
    for (const value of [[1, 2, 4], [1, 2], [1, 2, 4, 0], [3]]) {
      write(Uint8Array.from(value));
      const found = read();
      expect([...(found ?? [])]).toEqual(value);
      expect(read()).toBe(found);
    }
    expect([...(first ?? [])]).toEqual([1, 2, 3]);
    database.write([{ table: "a", key, value: null }]);
    expect(read()).toBeUndefined();
    reader.close();
    database.close();
  });
});
