import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { mendHome, userHome, userPath } from "./home.ts";

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

describe("a home that others can write", () => {
  function folder(mode: number): string {
    const path = mkdtempSync(join(tmpdir(), "svc-home-"));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    chmodSync(path, mode);
    return path;
  }
  const modeOf = (path: string): number => statSync(path).mode & 0o7777;
  const mended = (home: string): readonly string[] => {
    const told: string[] = [];
    mendHome(home, (warning) => void told.push(warning));
    return told;
  };

  test.each([
    [0o775, 0o755],
    [0o777, 0o755],
    [0o770, 0o750],
    [0o2775, 0o2755],
  ])("of mode %o gets mode %o, with a warning", (before, after) => {
    const home = folder(before);
    expect(mended(home)).toEqual([`Warning: other users could write in ${home}; they no longer can`]);
    expect(modeOf(home)).toBe(after);
    expect(mended(home)).toEqual([]);
  });

  test("is mended with the folders of its keys and settings, before a key is made", async () => {
    const home = folder(0o777);
    for (const name of ["config", "keyring-test", "other"]) mkdirSync(join(home, name));
    for (const name of ["config", "keyring-test", "other"]) chmodSync(join(home, name), 0o777);
    const { code, err } = await runCli(["keys", "add", "a", "--keyring-backend", "test", "--home", home]);
    expect(code).toBe(0);
    expect(err.match(/^Warning: .*$/gm)).toHaveLength(3);
    expect(["config", "keyring-test", "other"].map((name) => modeOf(join(home, name)))).toEqual([0o755, 0o755, 0o777]);
    expect(modeOf(join(home, "keyring-test", "a.info"))).toBe(0o600);
  });

  test.each([
    ["only its owner can write", 0o755],
    ["the sticky bit says that it is shared", 0o1777],
  ])("stays as it is where %s", (_, mode) => {
    const home = folder(mode);
    expect(mended(home)).toEqual([]);
    expect(modeOf(home)).toBe(mode);
  });

  test("a link of one's own is followed; one that leads nowhere is not a fault", () => {
    const [home, links] = [folder(0o777), folder(0o700)];
    symlinkSync(home, join(links, "own"));
    symlinkSync("nowhere", join(links, "lost"));
    expect(mended(join(links, "own"))).toHaveLength(1);
    expect(modeOf(home)).toBe(0o755);
    expect(mended(join(links, "lost"))).toEqual([]);
    expect(mended(join(links, "none"))).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)("folders and links of other users are left alone", () => {
    const [home, foreign, links] = [folder(0o777), folder(0o777), folder(0o700)];
    chownSync(foreign, 12_345, 12_345);
    symlinkSync(home, join(links, "foreign"));
    lchownSync(join(links, "foreign"), 12_345, 12_345);
    expect([mended(foreign), mended(join(links, "foreign"))]).toEqual([[], []]);
    expect([modeOf(foreign), modeOf(home)]).toEqual([0o777, 0o777]);
  });
});
