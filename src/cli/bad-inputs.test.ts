import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { armorRows } from "../../test/cli/bad-inputs/armor.ts";
import { configRows } from "../../test/cli/bad-inputs/config.ts";
import { fileRows } from "../../test/cli/bad-inputs/files.ts";
import { makeTestHome, type Row, snapshot } from "../../test/cli/bad-inputs/home.ts";
import { keyRows } from "../../test/cli/bad-inputs/keys.ts";
import { moduleRows } from "../../test/cli/bad-inputs/modules.ts";
import { queryRows } from "../../test/cli/bad-inputs/queries.ts";
import { serviceRows } from "../../test/cli/bad-inputs/services.ts";
import { stakingRows } from "../../test/cli/bad-inputs/staking.ts";
import { txFileRows } from "../../test/cli/bad-inputs/tx-files.ts";
import { txRows } from "../../test/cli/bad-inputs/txs.ts";
import { wordRows } from "../../test/cli/bad-inputs/words.ts";
import { runCli } from "../../test/cli/run.ts";
import { part } from "../../test/support/runs.ts";
import { allFlags } from "./command/command-line.ts";
import { envName } from "./command/flags.ts";
import type { CommandSpec } from "./command/spec.ts";
import { ROOT } from "./root.ts";

const testHome = await makeTestHome();
afterAll(() => testHome.remove());

const TABLES: readonly (readonly [string, readonly Row[]])[] = [
  ["words and flags", wordRows(testHome)],
  ["settings", configRows(testHome)],
  ["keys", keyRows(testHome)],
  ["exported keys", armorRows(testHome)],
  ["queries", queryRows(testHome)],
  ["transactions", txRows(testHome)],
  ["transactions in files", txFileRows(testHome)],
  ["modules of other chains", moduleRows(testHome)],
  ["delegations and rewards", stakingRows(testHome)],
  ["deployment and provider files", fileRows(testHome)],
  ["nodes, providers and deployments", serviceRows(testHome)],
];

test("the tables are long", () => {
  expect(TABLES.flatMap(([, rows]) => rows).length).toBeGreaterThanOrEqual(300);
});

/** Files and homes before the first row; no row may change them. */
const untouched = snapshot(testHome.root);

/** Notices may come before the error, which is one sentence; the remedy is another. */
const ONE_ERROR = /^(?:(?!Error: |Hint: ).*\n)*Error: (.+)\nHint: (.+)\n$/;

describe.each(TABLES)("%s", (_, rows) => {
  test.each(part(rows).map(([argv, ...row]) => ({ line: argv.join(" ").slice(0, 100), argv, row })))(
    "svc $line",
    async ({ argv, row: [code, text, { input = "", env = {} } = {}] }) => {
      const ran = await runCli(argv, { env: { ...testHome.env, ...env }, input });
      expect({ code: ran.code, out: ran.out, err: ran.err }).toEqual({
        code,
        out: "",
        err: expect.stringMatching(ONE_ERROR),
      });
      expect(ran.err).toContain(text);
      expect(ran.err.length).toBeLessThan(10_000);
      expect(ran.err).not.toMatch(/\n {4}at |assertion failed|Cannot read prop|is not a function|\[object/);
      const lines = typeof input === "string" ? input.split("\n") : [];
      for (const line of lines.filter((each) => each.length > 6)) expect(ran.err).not.toContain(line);
      expect(snapshot(testHome.root)).toEqual(untouched);
    },
  );
});

/** Every command that runs, with its words. */
async function commandsOf(
  spec: CommandSpec,
  words: readonly string[] = [],
): Promise<[readonly string[], CommandSpec][]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => commandsOf(child, [...words, child.name])));
  return [...(spec.load === undefined ? [] : [[words, spec] as [readonly string[], CommandSpec]]), ...below.flat()];
}

describe("flags of every command", async () => {
  const commands = part(await commandsOf(ROOT));

  /** Expects a refusal as a wrong command line, in one sentence with the form of the flag. */
  async function refused(
    argv: readonly string[],
    text: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const ran = await runCli(argv, { env: { ...testHome.env, ...env } });
    const expected = { code: 2, out: "", err: expect.stringMatching(ONE_ERROR) };
    expect({ argv, code: ran.code, out: ran.out, err: ran.err }).toEqual({ argv, ...expected });
    expect(ran.err).toContain(text);
  }

  test("one that it does not know, and one without its value", async () => {
    const before = snapshot(testHome.root);
    for (const [words, spec] of commands) {
      await refused([...words, "--frobnicate"], "unknown option '--frobnicate'");
      const valued = allFlags(spec).filter(({ value }) => value !== undefined);
      await refused([...words, `--${valued.at(-1)?.name}`], "argument missing");
    }
    expect(snapshot(testHome.root)).toEqual(before);
  });

  test("a word that is not one of its choices, as a flag and as a variable", async () => {
    const before = snapshot(testHome.root);
    for (const [words, spec] of commands) {
      const args = (spec.args ?? "").split(/\s+(?=[<[])/).filter((each) => each.startsWith("<"));
      const flags = (spec.flags ?? []).filter(({ choices }) => choices !== undefined);
      for (const { name } of flags) {
        const line = [...words, `--${name}`, "nonsense", ...args.map(() => "x")];
        await refused(line, `--${name} takes `);
      }
      const [first] = flags;
      if (first === undefined) continue;
      const env = { [envName(first.name)]: "nonsense" };
      const rest = flags.slice(1).flatMap(({ name, choices = [] }) => [`--${name}`, choices[0] ?? ""]);
      // `svc help` alone is `svc --help`.
      const line = words.join() === "help" ? ["help", "topics"] : words;
      await refused([...line, ...rest, ...args.map(() => "x")], `${envName(first.name)} takes `, env);
    }
    expect(snapshot(testHome.root)).toEqual(before);
  });

  test("a switch with a value that is neither true nor false", async () => {
    for (const [words, spec] of commands) {
      for (const { name } of allFlags(spec).filter(({ value }) => value === undefined)) {
        await refused([...words, `--${name}=perhaps`], `--${name} takes true or false, not "perhaps"`);
      }
    }
  });
});

test("the passphrase of a file keyring is not shown when it is wrong", async () => {
  const dir = join(testHome.root, "other");
  cpSync(testHome.home, dir, { recursive: true });
  const file = ["--keyring-backend", "file", "--home", dir];
  const { env } = testHome;
  await runCli(["keys", "add", "f", ...file], { env, input: "right passphrase\nright passphrase\n" });
  const { code, out, err } = await runCli(["keys", "list", ...file], { env, input: "hunter22\nhunter23\nhunter24\n" });
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain("too many failed passphrase attempts");
  expect(err).not.toContain("hunter2");
  rmSync(dir, { recursive: true });
});
