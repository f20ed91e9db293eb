import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { userPath } from "./home.ts";

test.each([
  ["~", homedir()],
  ["~/x/y", join(homedir(), "x/y")],
  ["~x", join(process.cwd(), "~x")],
  ["a/~/b", join(process.cwd(), "a/~/b")],
  ["/a/../b", "/b"],
])("%j is the folder %j", (text, path) => {
  expect(userPath(text)).toBe(path);
});
