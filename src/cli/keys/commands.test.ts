import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { runTerminal } from "../../../test/cli/terminal.ts";

const GENERATE = "Enter your bip39 mnemonic, or hit enter to generate one.";
const DEFAULT =
  "Enter your bip39 passphrase. This is combined with the mnemonic to derive the seed. " +
  'Most users should just hit enter to use the default, ""';

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-keys-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const keys = (words: readonly string[], input = "") =>
  runCli(["keys", ...words], { input, env: { SVC_HOME: home, SVC_KEYRING_BACKEND: "test" } });

describe("keys list-key-types", () => {
  test("prints the one kind", async () => {
    expect(await keys(["list-key-types"])).toEqual({ code: 0, out: expect.stringContaining("secp256k1"), err: "" });
  });
});

test("a tilde left in --keyring-dir is the user's home", async () => {
  vi.stubEnv("HOME", home);
  onTestFinished(() => void vi.unstubAllEnvs());
  await keys(["add", "a", "--no-backup", "--keyring-dir=~/elsewhere"]);
  expect(readdirSync(join(home, "elsewhere"))).toEqual(["keyring-test"]);
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

describe("prompts at a terminal", () => {
  const type = (words: readonly string[], ...answers: [string, string][]) =>
    runTerminal(
      ["keys", ...words],
      answers.map(([prompt, text]) => ({ prompt, text })),
      { SVC_HOME: home, SVC_KEYRING_BACKEND: "test" },
    );

  test("of keys add -i: phrase, then its passphrase twice", async () => {
    const passphrase: [string, string] = [DEFAULT, "more words"];
    const made = await type(["add", "i1", "-i"], [GENERATE, ""], passphrase, ["Repeat the passphrase:", "more words"]);
    expect(made.code).toBe(0);
    expect(made.screen).toContain(`> ${GENERATE}\n\n> ${DEFAULT}\nmore words\n> Repeat the passphrase:\nmore words\n`);
    const other = await type(["add", "i2", "-i"], [GENERATE, ""], passphrase, ["Repeat", "other words"]);
    expect(other).toMatchObject({ code: 1, screen: expect.stringContaining("Error: passphrases don't match") });
  });

  test("of keys import and of an export without armor", async () => {
    await keys(["add", "armored", "--no-backup"]);
    const { out } = await keys(["export", "armored"], "long enough\n");
    const file = join(home, "armor");
    writeFileSync(file, out);
    await keys(["delete", "armored", "-y"]);
    const imported = await type(["import", "armored", file], ["Enter passphrase to decrypt your key:", "long enough"]);
    expect(imported).toEqual({ code: 0, screen: "Enter passphrase to decrypt your key:\n" });
    const hex = await type(["export", "armored", "--unarmored-hex", "--unsafe"], ["[y/N]", "y"]);
    expect(hex.screen).toMatch(
      /^WARNING: The private key will be exported as an unarmored hexadecimal string\. USE AT YOUR OWN RISK\. Continue\? \[y\/N\]: y\n[0-9a-f]{64}\n$/,
    );
  });

  test("of keys mnemonic --unsafe-entropy", async () => {
    const entropy = "0123456789".repeat(5);
    const { code, screen } = await type(["mnemonic", "--unsafe-entropy"], ["WARNING", entropy], ["[y/N]", "y"]);
    expect(code).toBe(0);
    expect(screen).toMatch(
      /^> WARNING: Generate at least 256-bits of entropy and enter the results here:\n\d+\n(> )?Input length: 50 \[y\/N\]: y\n(\w+ ){23}\w+\n$/,
    );
  });
});
