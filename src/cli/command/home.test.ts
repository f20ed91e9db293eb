import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { userHome, userPath } from "./home.ts";

test.each([
  ["~", homedir()],
  ["~/x/y", join(homedir(), "x/y")],
  ["~x", join(process.cwd(), "~x")],
  ["a/~/b", join(process.cwd(), "a/~/b")],
  ["/a/../b", "/b"],
])("%j is the folder %j", (text, path) => {
  expect(userPath(text)).toBe(path);
});

test("without HOME the user's home is the system's", () => {
  vi.stubEnv("HOME", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(homedir()).toBe("");
  expect(userHome()).toBe(userInfo().homedir);
});
