import { cpSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { open } from "lmdb";
import { afterAll, describe, expect, test } from "vitest";
import { fromUtf8, toHex, toUtf8 } from "../../util/index.ts";
import {
  type Database,
  deflatedTable,
  type KVReader,
  memoryDatabase,
  openLmdb,
  openLmdbReader,
  type Range,
  type Write,
} from "../index.ts";

const scratch = mkdtempSync(join(tmpdir(), "svc-store-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let directories = 0;
function freshDirectory(): string {
  directories += 1;
  return join(scratch, `db.${directories}`);
}

function put(table: string, key: string, value: string | null): Write {
  return { table, key: toUtf8(key), value: value === null ? null : toUtf8(value) };
}

function text(reader: KVReader, key: string): string | undefined {
  const value = reader.get(toUtf8(key));
  return value === undefined ? undefined : fromUtf8(value);
}

function listing(reader: KVReader, range?: Range): string[] {
  return [...reader.iterate(range)].map(([key, value]) => `${toHex(key)}=${toHex(value)}`);
}

const makers: readonly (readonly [name: string, make: () => Database])[] = [
  ["memory", memoryDatabase],
  ["LMDB", () => openLmdb(freshDirectory())],
];

describe.each(makers)("%s database", (_name, make) => {
  function using(work: (database: Database) => void): void {
    const database = make();
    try {
      work(database);
    } finally {
      database.close();
    }
  }

  test("writes, overwrites and deletes in several tables at once", () => {
    using((database) => {
      expect(text(database.table("a"), "k")).toBeUndefined();
      expect(listing(database.table("a"))).toEqual([]);
      database.write([put("a", "k", "1"), put("b", "k", "2"), put("a", "k", "3"), put("b", "gone", "4")]);
      database.write([put("b", "gone", null), put("b", "never there", null)]);
      expect([text(database.table("a"), "k"), text(database.table("b"), "k")]).toEqual(["3", "2"]);
      expect(database.table("b").has(toUtf8("gone"))).toBe(false);
    });
  });

  test("reads the values of a compressed table as they were written", () => {
    using((database) => {
      const table = deflatedTable("a");
      database.write([put(table, "1", "one"), put(table, "2", ""), put(table, "3", "x".repeat(100_000))]);
      const before = database.snapshot();
      database.write([put(table, "1", "other"), put(table, "2", null)]);
      const read = (reader: KVReader) => [...reader.iterate()].map(([key, value]) => [fromUtf8(key), value.length]);
      expect([text(before.table(table), "1"), read(before.table(table)).length]).toEqual(["one", 3]);
      before.close();
      expect([text(database.table(table), "1"), database.table(table).has(toUtf8("2"))]).toEqual(["other", false]);
      expect(read(database.table(table))).toEqual([
        ["1", 5],
        ["3", 100_000],
      ]);
    });
  });

  test("writes what is made meanwhile before the others, or nothing when it cannot be made", () => {
    using((database) => {
      database.table("a");
      function* made(end: () => Write): IterableIterator<Write> {
        for (let i = 0; i < 3; i++) yield put("a", `${i}`, "made");
        yield end();
      }
      const fails = () => made(() => put("a", "x".repeat(2000), "too long a key"));
      const breaks = () =>
        made(() => {
          throw new Error("it broke");
        });
      expect(() => database.write([put("a", "other", "1")], fails())).toThrow("1 to 1700 bytes");
      expect(() => database.write([put("a", "other", "1")], breaks())).toThrow("it broke");
      expect(listing(database.table("a"))).toEqual([]);
      database.write(
        [put("a", "1", "2"), put("a", "2", null)],
        made(() => put("a", "last", "3")),
      );
      expect(["0", "1", "2", "last"].map((key) => text(database.table("a"), key))).toEqual([
        "made",
        "2",
        undefined,
        "3",
      ]);
    });
  });

  test("keeps empty, large and binary values, and hands out bytes that stay as they are", () => {
    using((database) => {
      const large = new Uint8Array(200_000).fill(7);
      database.write([
        { table: "t", key: Uint8Array.of(0), value: new Uint8Array(0) },
        { table: "t", key: Uint8Array.of(0, 0), value: Uint8Array.of(0, 255) },
        { table: "t", key: new Uint8Array(1024).fill(255), value: large },
      ]);
      const table = database.table("t");
      const read = [...table.iterate()].map(([, value]) => value);
      const one = table.get(Uint8Array.of(0, 0));
      const big = table.get(new Uint8Array(1024).fill(255));
      database.write([{ table: "t", key: Uint8Array.of(0, 0), value: Uint8Array.of(9, 9) }]);
      for (let i = 0; i < 100; i++) table.get(Uint8Array.of(0, 0));
      expect(one && toHex(one)).toBe("00ff");
      expect(big?.length).toBe(200_000);
      expect(big?.every((byte) => byte === 7)).toBe(true);
      expect(read.map((value) => value.length)).toEqual([0, 2, 200_000]);
      expect(read[1] && toHex(read[1])).toBe("00ff");
      expect(table.get(Uint8Array.of(0))).toHaveLength(0);
      expect(table.has(Uint8Array.of(0))).toBe(true);
    });
  });

  test("is not changed through the bytes a caller wrote", () => {
    using((database) => {
      const value = Uint8Array.of(1);
      database.write([{ table: "t", key: toUtf8("k"), value }]);
      value[0] = 2;
      expect([...(database.table("t").get(toUtf8("k")) ?? [])]).toEqual([1]);
    });
  });

  test("iterates like a sorted list through random writes and ranges", () => {
    const key = fc
      .array(fc.constantFrom(0, 1, 128, 255), { minLength: 1, maxLength: 3 })
      .map((b) => Uint8Array.from(b));
    const bound = fc.option(fc.oneof(key, fc.constant(new Uint8Array(3000).fill(1))), { nil: undefined });
    const range = fc.record({ start: bound, end: bound, reverse: fc.boolean() });
    const write = fc.tuple(key, fc.option(fc.uint8Array({ maxLength: 2 }), { nil: null }));
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
    console.log(`seed ${seed}`);
    using((database) => {
      let run = 0;
      fc.assert(
        fc.property(fc.array(fc.array(write, { maxLength: 8 }), { maxLength: 4 }), range, (batches, wanted) => {
          run += 1;
          const table = `run ${run % 60}`;
          database.write([...database.table(table).iterate()].map(([key]) => ({ table, key, value: null })));
          const model = new Map<string, string>();
          for (const batch of batches) {
            database.write(batch.map(([key, value]) => ({ table, key, value })));
            for (const [key, value] of batch) {
              if (value === null) model.delete(toHex(key));
              else model.set(toHex(key), toHex(value));
            }
          }
          const expected = [...model]
            .filter(([key]) => wanted.start === undefined || key >= toHex(wanted.start))
            .filter(([key]) => wanted.end === undefined || key < toHex(wanted.end))
            .map(([key, value]) => `${key}=${value}`)
            .sort((a, b) => (a.split("=").join() < b.split("=").join() ? -1 : 1));
          expect(listing(database.table(table), wanted)).toEqual(wanted.reverse ? expected.reverse() : expected);
        }),
        { seed, numRuns: 60 },
      );
    });
  });

  test("keeps snapshots and open iterators as they were", () => {
    using((database) => {
      database.write([put("t", "a", "1"), put("t", "b", "2"), put("t", "c", "3")]);
      const snapshot = database.snapshot();
      const entries = database.table("t").iterate();
      const first = entries.next();
      database.write([put("t", "a", "9"), put("t", "b", null), put("t", "bb", "8"), put("new", "x", "7")]);
      database.write([put("t", "b", "6")]);
      expect(listing(snapshot.table("t"))).toEqual(["61=31", "62=32", "63=33"]);
      expect(text(snapshot.table("t"), "a")).toBe("1");
      expect(listing(snapshot.table("new"))).toEqual([]);
      expect(text(database.table("t"), "a")).toBe("9");
      expect(listing(database.table("t"))).toEqual(["61=39", "62=36", "6262=38", "63=33"]);
      expect([first.value, ...entries].map((entry) => entry && toHex(entry[1]))).toEqual(["31", "32", "33"]);
      snapshot.close();
      snapshot.close();
    });
  });

  test("refuses bad keys without writing anything, and use after close", () => {
    const database = make();
    const bad = { table: "t", key: new Uint8Array(0), value: toUtf8("1") };
    expect(() => database.write([put("t", "good", "1"), bad])).toThrow("1 to 1700 bytes");
    expect(() => database.write([put("t", "good", "1"), { ...bad, key: new Uint8Array(1701) }])).toThrow("1 to 1700");
    expect(database.table("t").has(toUtf8("good"))).toBe(false);
    expect(database.table("t").get(new Uint8Array(0))).toBeUndefined();
    expect(database.table("t").get(new Uint8Array(100_000))).toBeUndefined();
    database.close();
    expect(() => database.table("t")).toThrow("the database is closed");
    expect(() => database.write([put("t", "a", "1")])).toThrow("the database is closed");
  });
});

describe("memory database", () => {
  test("forgets deleted keys", () => {
    const database = memoryDatabase();
    for (let round = 0; round < 3; round++) {
      const keys = Array.from({ length: 1500 }, (_, i) => `${round} ${i}`);
      database.write(keys.map((key) => put("t", key, "1")));
      database.write(keys.slice(1).map((key) => put("t", key, null)));
    }
    expect([...database.table("t").iterate()].map(([key]) => fromUtf8(key))).toEqual(["0 0", "1 0", "2 0"]);
  });
});

describe("LMDB database", () => {
  test("is there again after it was closed, in private files", () => {
    const directory = freshDirectory();
    for (let round = 0; round < 3; round++) {
      const database = openLmdb(directory);
      const snapshot = database.snapshot();
      expect(listing(snapshot.table("t"))).toHaveLength(Math.min(round, 1));
      snapshot.close();
      expect(text(database.table("t"), "round")).toBe(round === 0 ? undefined : `${round - 1}`);
      database.write([put("t", "round", `${round}`)]);
      database.close();
      database.close();
    }
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, "data.mdb")).mode & 0o077).toBe(0);
  });

  test("is refused a second time in one process", () => {
    const directory = freshDirectory();
    const database = openLmdb(directory);
    expect(() => openLmdb(`${directory}/.`)).toThrow("is already open in this process: the database is in use");
    database.close();
    openLmdb(directory).close();
  });

  test("keeps what follows a transaction without changes, however often its process is killed", () => {
    const [first, second, third] = [freshDirectory(), freshDirectory(), freshDirectory()];
    const database = openLmdb(first);
    database.write([put("t", "a", "1")], []);
    database.write([]);
    cpSync(first, second, { recursive: true });
    database.close();
    const killed = openLmdb(second);
    killed.write([put("t", "b", "2")]);
    const reader = openLmdbReader(second, ["t"]);
    expect(listing(reader.table("t"))).toHaveLength(2);
    reader.close();
    cpSync(second, third, { recursive: true });
    killed.close();
    const again = openLmdb(third);
    expect(listing(again.table("t"))).toHaveLength(2);
    again.close();
  });

  test("says so when its journal is damaged", async () => {
    const [directory, damaged] = [freshDirectory(), freshDirectory()];
    const database = openLmdb(directory);
    database.write([put("t", "a", "1")]);
    cpSync(directory, damaged, { recursive: true });
    database.close();
    const journal = open(join(damaged, "journal"), { keyEncoding: "binary", encoding: "binary", noSubdir: false });
    for (const { key } of journal.getRange()) journal.putSync(key, Buffer.of(0xff));
    await journal.close();
    expect(() => openLmdb(damaged)).toThrow(/^row 0 of the journal: .*: the database is damaged$/);
  });

  test("survives being closed with a snapshot and an iterator open", () => {
    const directory = freshDirectory();
    const database = openLmdb(directory);
    database.write([put("t", "a", "1"), put("t", "b", "2")]);
    const held = database.snapshot();
    held.table("t").iterate().next();
    const entries = database.table("t").iterate();
    entries.next();
    database.close();
    const again = openLmdb(directory);
    expect(listing(again.table("t"))).toHaveLength(2);
    again.close();
  });
});

test("a compressed table takes a part of the disk, and other threads read it", () => {
  const sizes = ["plain", deflatedTable("compressed")].map((table) => {
    const directory = freshDirectory();
    const database = openLmdb(directory);
    database.write(Array.from({ length: 50 }, (_, i) => put(table, `${i}`, `${i} is a value. `.repeat(4_000))));
    const reader = openLmdbReader(directory, [table]);
    expect(text(reader.table(table), "7")).toBe("7 is a value. ".repeat(4_000));
    reader.close();
    database.close();
    return statSync(join(directory, "data.mdb")).size;
  });
  expect(sizes[1]).toBeLessThan((sizes[0] ?? 0) / 10);
});
