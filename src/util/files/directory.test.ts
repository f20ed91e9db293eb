import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makePrivateDirectory } from "./directory.ts";

const root = mkdtempSync(join(tmpdir(), "svc-directory-"));
afterAll(() => rmSync(root, { recursive: true }));

test("a directory with those above it is its owner's alone, and may be there", () => {
  const path = join(root, "a", "b", "c");
  makePrivateDirectory(path);
  makePrivateDirectory(path);
  for (const each of ["a", "a/b", "a/b/c"]) expect(statSync(join(root, each)).mode & 0o777).toBe(0o700);
});

test("a link to a directory is one", () => {
  symlinkSync(root, join(root, "link"));
  makePrivateDirectory(join(root, "link"));
  makePrivateDirectory(join(root, "link", "below"));
  expect(statSync(join(root, "below")).isDirectory()).toBe(true);
});

describe("where none can be made", () => {
  writeFileSync(join(root, "file"), "");
  symlinkSync(join(root, "nowhere"), join(root, "dangling"));

  test.each([
    ["a file is there", join(root, "file"), "a file is in the way"],
    ["a file is above", join(root, "file", "x", "y"), "a file is in the way"],
    ["a link to nothing is there", join(root, "dangling"), "a file is in the way"],
    ["nothing is ever made there", "/proc/svc-none/x", "cannot make the directory /proc/svc-none: nothing can be made"],
  ])("%s", (_, path, text) => {
    expect(() => makePrivateDirectory(path)).toThrow(text);
  });
});
