import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runCli } from "../../test/cli/run.ts";
import { runTerminal } from "../../test/cli/terminal.ts";

const home = mkdtempSync(join(tmpdir(), "svc-keys-"));
afterAll(() => rmSync(home, { recursive: true }));
const keys = (words: readonly string[], input = "") =>
  runCli(["keys", ...words], { input, env: { SVC_HOME: home, SVC_KEYRING_BACKEND: "test" } });

describe("keys list-key-types", () => {
  test("tells the one kind", async () => {
    expect(await keys(["list-key-types"])).toEqual({ code: 0, out: expect.stringContaining("secp256k1"), err: "" });
  });
});

describe("keys delete", () => {
  test("asks also with --force", async () => {
    await keys(["add", "a", "--no-backup"]);
    expect((await keys(["delete", "a", "--force"], "n\n")).code).toBe(0);
    expect((await keys(["list", "--list-names"])).out).toBe("a\n");
    await keys(["delete", "a", "--force"], "y\n");
    expect((await keys(["list", "--list-names"])).out).toBe("");
  });
});

describe("keys rename", () => {
  test("asks, unless told not to, and says what it did", async () => {
    await keys(["add", "old", "--no-backup"]);
    const settings = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test" };
    const asked = await runTerminal(["keys", "rename", "old", "new"], [{ prompt: "[y/N]", text: "y" }], settings);
    expect(asked).toEqual({
      code: 0,
      screen:
        "Key reference will be renamed from old to new. Continue? [y/N]: y\nKey was successfully renamed from old to new\n",
    });
    const sure = await keys(["rename", "new", "newer", "-y"]);
    expect(sure).toEqual({ code: 0, out: "", err: "Key was successfully renamed from new to newer\n" });
  });
});

describe("keys mnemonic", () => {
  test("of given entropy asks nothing with -y", async () => {
    const entropy = `${"entropy ".repeat(8)}\n`;
    const sure = await keys(["mnemonic", "--unsafe-entropy", "-y"], entropy);
    expect(sure).toEqual(await keys(["mnemonic", "--unsafe-entropy"], `${entropy}y\n`));
    expect(sure.out.trim().split(" ")).toHaveLength(24);
    expect(await keys(["mnemonic", "--unsafe-entropy"], `${entropy}n\n`)).toMatchObject({ out: "" });
  });
});
