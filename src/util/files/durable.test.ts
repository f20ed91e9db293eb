import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFile, overwriteFile, replaceFile } from "./durable.ts";

let root = "";
let path = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-durable-"));
  path = join(root, "state.json");
});

afterEach(() => rmSync(root, { recursive: true }));

const content = (): string => readFileSync(path, "utf8");
const modeOf = (file: string): number => statSync(file).mode & 0o777;

test("a file is made and replaced, for its owner alone, and nothing stays beside it", () => {
  replaceFile(path, "one");
  replaceFile(path, "two");
  expect([content(), modeOf(path), readdirSync(root)]).toEqual(["two", 0o600, ["state.json"]]);
  replaceFile(path, "open", 0o644);
  expect([content(), modeOf(path)]).toEqual(["open", 0o644]);
});

test("what a crash left half written is not part of the next text, nor a link followed", () => {
  const left = join(root, `.tmp-${process.pid}`);
  writeFileSync(left, "a longer text than the next one", { mode: 0o644 });
  replaceFile(path, "next");
  expect([content(), modeOf(path)]).toEqual(["next", 0o600]);
  writeFileSync(join(root, "other"), "untouched");
  symlinkSync(join(root, "other"), left);
  replaceFile(path, "last");
  expect([content(), readFileSync(join(root, "other"), "utf8")]).toEqual(["last", "untouched"]);
});

test("an empty folder in the place of a file goes", () => {
  mkdirSync(path);
  replaceFile(path, "one");
  expect(content()).toBe("one");
});

test("a file is created once", () => {
  expect(createFile(path, "first")).toBe(true);
  expect(createFile(path, "second")).toBe(false);
  expect([content(), modeOf(path), readdirSync(root)]).toEqual(["first", 0o600, ["state.json"]]);
});

describe("where it cannot be written", () => {
  test("nothing stays beside it", () => {
    mkdirSync(join(path, "held"), { recursive: true });
    expect(() => replaceFile(path, "text")).toThrow();
    expect(readdirSync(root)).toEqual(["state.json"]);
  });

  test("to the end, the old text stays and the failure is reported", { timeout: 60_000 }, async () => {
    replaceFile(path, "old");
    const checkout = resolve(import.meta.dirname, "../../..");
    const script = join(root, "write.ts");
    const module = JSON.stringify(join(import.meta.dirname, "durable.ts"));
    writeFileSync(
      script,
      `import { replaceFile } from ${module};
       try { replaceFile(${JSON.stringify(path)}, "x".repeat(200_000)); } catch (error) { console.log(error.code); }`,
    );
    const bundle = join(root, "write.mjs");
    const esbuild = join(checkout, "node_modules", ".bin", "esbuild");
    const run = promisify(execFile);
    await run(esbuild, [script, "--bundle", "--format=esm", "--platform=node", `--outfile=${bundle}`]);
    // A limit on the size of files behaves like a full disk: a part is taken, the rest is not.
    const { stdout } = await run("sh", ["-c", 'ulimit -f 16; exec "$0" "$1"', process.execPath, bundle]);
    expect(stdout).toBe("EFBIG\n");
    expect(content()).toBe("old");
    expect(readdirSync(root).sort()).toEqual(["state.json", "write.mjs", "write.ts"]);
  });
});

test("overwriteFile writes over a file of the same length alone", () => {
  expect(overwriteFile(path, "one")).toBe(false);
  replaceFile(path, "one");
  const { ino } = statSync(path);
  expect(overwriteFile(path, "longer")).toBe(false);
  expect(overwriteFile(path, "two")).toBe(true);
  expect([content(), statSync(path).ino]).toEqual(["two", ino]);
});
