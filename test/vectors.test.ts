import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const FOLDER = join(ROOT, "test", "vectors");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

interface Row {
  readonly name: string;
  readonly tests: readonly string[];
}

/** Rows of the table of the folder's page. */
const rows: readonly Row[] = read("test/vectors/README.md")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [, name = "", , tests = ""] = line.split("|").map((cell) => cell.trim());
    const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
    return { name: codes(name)[0] ?? "", tests: codes(tests) };
  });

describe("recorded facts", () => {
  test("have their row, each of them", () => {
    const there = readdirSync(FOLDER).filter((name) => name !== "README.md");
    expect(rows.map(({ name }) => name).sort()).toEqual(there.sort());
  });

  test.each(rows)("$name is read by the tests that are said to hold it", ({ name, tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    const silent = tests.filter((path) => !existsSync(join(ROOT, path)) || !reads(path, name));
    expect(silent).toEqual([]);
  });
});

/** Whether a test names the file, as a path behind `vectors/` or alone in quotes. */
function reads(path: string, name: string): boolean {
  const text = read(path);
  if (["", "/"].some((end) => text.includes(`vectors/${name}${end}"`))) return true;
  return text.includes("test/vectors/") && text.includes(`"${name}"`);
}
