import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLmdb, storeFault } from "../index.ts";
import { checkDataFile } from "./data-file.ts";

const scratch = mkdtempSync(join(tmpdir(), "svc-data-file-"));
const whole = join(scratch, "whole");
const ENTRIES = 400;
let copies = 0;

beforeAll(() => {
  const database = openLmdb(whole);
  const value = new Uint8Array(16_000).fill(7);
  for (let i = 0; i < ENTRIES; i++) database.write([{ table: "t", key: Buffer.from(`key ${i}`), value }]);
  database.close();
});

afterAll(() => rmSync(scratch, { recursive: true }));

/** The data file of a separate database, as the whole one has it. */
function copy(): { directory: string; file: string; size: number } {
  const directory = join(scratch, String(copies++));
  mkdirSync(directory, { mode: 0o700 });
  const file = join(directory, "data.mdb");
  copyFileSync(join(whole, "data.mdb"), file);
  return { directory, file, size: statSync(file).size };
}

/** Reads everything in a database, as a start does. */
function entries(directory: string): number {
  const database = openLmdb(directory);
  try {
    return [...database.table("t").iterate()].length;
  } catch (error) {
    throw storeFault(error, directory);
  } finally {
    database.close();
  }
}

describe("a data file that LMDB would crash on", () => {
  test("is distinguished from a complete one", () => {
    expect(entries(copy().directory)).toBe(ENTRIES);
  });

  test.each([100, 4096, 5000, 8192, 20_000, 1_000_000])("is refused when it ends after %i bytes", (size) => {
    const { directory, file } = copy();
    truncateSync(file, size);
    expect(() => entries(directory)).toThrow("the database is damaged");
  });

  test("is whole although thousands of pages that transactions gave back were never written", () => {
    const directory = join(scratch, "given-back");
    const database = openLmdb(directory);
    for (let round = 0; round < 6; round++) {
      const keys = Array.from({ length: 2000 }, (_, i) => Buffer.from(`${(i * 7919) % 2000} ${round}`));
      const puts = keys.map((key) => ({ table: "t", key, value: new Uint8Array(9000) }));
      database.write(round % 2 === 0 ? puts : [...puts, ...puts.map((put) => ({ ...put, value: null }))]);
    }
    database.close();
    const { size } = statSync(join(directory, "data.mdb"));
    expect(entries(directory)).toBe(6000);
    expect(statSync(join(directory, "data.mdb")).size - size).toBeGreaterThan(1_000_000);
  });

  test("gets back the length that it states when pages that may never have been written are missing", () => {
    const { directory, file, size } = copy();
    truncateSync(file, size - 200_000);
    checkDataFile(file);
    expect(statSync(file).size).toBe(size);
    expect(() => openLmdb(directory)).toThrow("the database is damaged");
  });

  test("is not a fault of the file when the directory cannot be used", () => {
    const { directory } = copy();
    // A link that points to itself: neither a folder nor a file that a damaged disk leaves.
    symlinkSync("lock", join(directory, "lock"));
    expect(() => openLmdb(directory)).toThrow(/the database cannot be opened$/);
  });

  test.each(["MDB_CORRUPTED: Located page was wrong type", "MDB_PAGE_NOTFOUND: Requested page not found"])(
    "%j is damage, with its remedy",
    (text) => {
      expect(storeFault(new Error(text), "/d")).toMatchObject({
        message: `/d: ${text}: the database is damaged`,
        hint: expect.stringContaining("backup"),
      });
    },
  );

  test.each(["MDB_MAP_FULL: Environment mapsize limit reached", "ENOSPC: no space left"])("%j is none", (text) => {
    const error = new Error(text);
    expect(storeFault(error, "/d")).toBe(error);
  });

  test.each([0, 4096])("is refused when the page at %i is something else", (at) => {
    const { directory, file } = copy();
    const descriptor = openSync(file, "r+");
    writeSync(descriptor, Buffer.alloc(4096, 0x5a), 0, 4096, at);
    closeSync(descriptor);
    expect(() => entries(directory)).toThrow("is not a database: the database is damaged");
  });
});
