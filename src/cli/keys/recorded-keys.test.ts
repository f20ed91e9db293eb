import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Ran, runCli } from "../../../test/cli/run.ts";
import armors from "../../../test/vectors/armor.json" with { type: "json" };
import directories from "../../../test/vectors/keyring-dirs.json" with { type: "json" };
import recorded from "../../../test/vectors/keys-tx-sdk053.json" with { type: "json" };
import sdk042 from "../../../test/vectors/tx-sdk042.json" with { type: "json" };

/** Every recorded command of the newer reference tool, run again in its order, with its form of public keys. */

const root = mkdtempSync(join(tmpdir(), "svc-recorded-"));
afterAll(() => rmSync(root, { recursive: true }));

type Run = (typeof recorded.runs)[number];

beforeAll(() => {
  writeFileSync(join(root, "a42"), armors.items[0]?.armor ?? "");
  writeFileSync(join(root, "u.json"), sdk042.cases[0]?.unsigned_stdout ?? "");
  writeDirectory(join(root, "h3", "keyring-test"), directories.amino.test.files);
  writeDirectory(join(root, "h4", "keyring-file"), directories.amino.file.files);
});

function writeDirectory(dir: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text, { mode: 0o600 });
}

function again({ args, stdin }: Run): Promise<Ran> {
  const words = args.map((word) => word.replace(/^\.\//, `${root}/`));
  return runCli(words, { input: stdin, env: { SVC_PROFILE: "cosmos", SVC_PUBKEY_FORMAT: "json" } });
}

/** Fields that the reference prints; ours always has all seven. */
interface Shown {
  readonly name: string;
  readonly type: string;
  readonly address: string;
  readonly pubkey: string;
}

function records(text: string): Shown[] {
  const value: Shown | Shown[] = parse(text);
  return Array.isArray(value) ? value : [value];
}

/** Removes empty fields that later releases added to transactions. */
function withoutNewer(text: string): string {
  return text.replace('"unordered":false,"timeout_timestamp":null,', "").replace(',"tip":null', "");
}

/** A new key differs in every run. */
function withoutRandom({ name, type, address, pubkey }: Shown): Shown {
  if (name !== "newkey" && name !== "d") return { name, type, address, pubkey };
  return { name, type, address: address.slice(0, 7), pubkey: pubkey.replace(/"key":".*"/, "") };
}

/** Where our output says something else, with the reason. */
const OWN_WORDS: ReadonlyMap<string, string> = new Map([
  ["missing", "nope is not a valid name or address"],
  // Our error names the key.
  ["dup", 'the same key is stored as "k0": key already exists'],
  ["import wrong", "failed to decrypt private key: invalid account password"],
]);

/** Later commands use the keys of earlier ones. */
const IN_ORDER = { shuffle: false };

describe("the newer reference's commands", IN_ORDER, () => {
  test.each(recorded.runs.map((run) => [run.title, run] as const))("%s", async (title, run) => {
    const { code, out, err } = await again(run);
    expect(code).toBe(run.rc);
    // Signed by the reference, encoded by ours.
    if (title.startsWith("sign ")) writeFileSync(join(root, "s.json"), run.stdout);
    const own = OWN_WORDS.get(title);
    if (own !== undefined) {
      expect(out).toBe("");
      expect(err).toContain(`Error: ${own}`);
    } else if (title === "export") {
      expect(out).toMatch(
        /^-----BEGIN TENDERMINT PRIVATE KEY-----\nkdf: bcrypt\nsalt: [0-9A-F]{32}\ntype: secp256k1\n/,
      );
    } else if (title === "empty list") {
      expect(out).toBe("[]\n\n");
    } else if (title === "decode" || !/address/.test(run.stdout) || /^\{"(?:body|@type)/.test(run.stdout)) {
      const lineEnd = title === "decode" ? "\n" : "";
      expect(out).toBe(withoutNewer(run.stdout) + lineEnd);
    } else {
      expect(records(out).map(withoutRandom)).toEqual(records(run.stdout).map(withoutRandom));
    }
  });

  test("the armor of the newer kind", async () => {
    const { armor, passphrase, privkey_hex } = recorded.argon2_armor;
    writeFileSync(join(root, "argon2"), armor);
    const home = ["--home", join(root, "h6"), "--keyring-backend", "test"];
    const imported = await runCli(["keys", "import", "a", join(root, "argon2"), ...home], { input: `${passphrase}\n` });
    expect(imported).toEqual({ code: 0, out: "", err: "" });
    const exported = await runCli(["keys", "export", "a", "--unarmored-hex", "--unsafe", "-y", ...home]);
    expect(exported.out).toBe(`${privkey_hex}\n`);
  });
});

describe("keys migrate", () => {
  const names = ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "kp", "ms_nosort", "ms_sorted"];
  const at = (dir: string) => ["--home", join(root, dir), "--keyring-backend", "test"];

  test("an older directory, there and back; each name is reported once", async () => {
    cpSync(join(root, "h3"), join(root, "m"), { recursive: true });
    const list = () => runCli(["keys", "list", ...at("m")]);
    const before = await list();
    const told = names.map((name) => `Successfully migrated key ${name}.info.\n`).join("");
    const done = "Keys migration has been successfully executed.\n";
    expect(await runCli(["keys", "migrate", ...at("m")])).toEqual({ code: 0, out: done, err: told });
    expect(await runCli(["keys", "migrate", ...at("m")])).toEqual({ code: 0, out: done, err: "" });
    expect(await list()).toEqual(before);
    const back = ["keys", "migrate", "--to", "amino"];
    expect(await runCli([...back, ...at("m")])).toEqual({ code: 0, out: done, err: told });
    expect(await runCli([...back, ...at("m")])).toEqual({ code: 0, out: done, err: "" });
    expect(await list()).toEqual(before);
  });
});
