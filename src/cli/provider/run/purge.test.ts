import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import { lockHome } from "../../config/home-lock.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-purge-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const purge = (): ReturnType<typeof runCli> => runCli(["provider", "purge", "-y", "--home", home]);

test("a home in which no provider has run has nothing to remove", async () => {
  expect(await purge()).toMatchObject({ code: 1, err: expect.stringContaining(`no provider has ever run in ${home}`) });
});

test("a provider that runs is not robbed of its containers", async () => {
  mkdirSync(join(home, "provider"), { recursive: true });
  const lock = lockHome(join(home, "provider"), { text: "", hint: "" });
  expect(await purge()).toMatchObject({
    code: 1,
    err: `Error: the provider of ${home} is running\nHint: stop it first\n`,
  });
  lock.release();
});
