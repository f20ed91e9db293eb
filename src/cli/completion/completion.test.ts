import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { ROOT } from "../root.ts";
import { completionModel } from "./model.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-completion-"));
afterAll(() => rmSync(dir, { recursive: true }));
const model = await completionModel(ROOT);
const script = async (shell: string): Promise<string> => (await runCli(["completion", shell])).out;

/** What one bash, with the script loaded, offers for each of the command lines; the last word is the one at the cursor. */
async function offered(lines: readonly (readonly string[])[]): Promise<string[][]> {
  writeFileSync(join(dir, "svc.bash"), await script("bash"));
  const asked = lines.map((words) => {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    return `COMP_WORDS=(svc ${quoted}); COMP_CWORD=${words.length}; _svc; echo "\${COMPREPLY[*]}"`;
  });
  const run = ["cd files", "source ../svc.bash", "complete -p svc >&2", ...asked].join("\n");
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-c", run], { cwd: dir, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "complete -F _svc svc\n" });
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split(" ").filter((word) => word !== ""));
}

beforeAll(() => {
  mkdirSync(join(dir, "files", "folder"), { recursive: true });
  writeFileSync(join(dir, "files", "my file.yaml"), "");
});

describe("completion in bash", () => {
  test("knows every group's commands and every command's flags", async () => {
    const places = [...model.flags.keys()];
    expect(places.length).toBeGreaterThan(80);
    const words = places.map((place) => (place === "" ? [] : place.split(" ")));
    const commands = await offered(words.map((before) => [...before, ""]));
    const flags = await offered(words.map((before) => [...before, "-"]));
    places.forEach((place, at) => {
      const found = new Set(commands[at]);
      const children = (model.children.get(place) ?? []).map(({ word }) => word);
      expect({ place, missing: children.filter((word) => !found.has(word)) }).toEqual({ place, missing: [] });
      expect({ place, flags: new Set(flags[at]) }).toEqual({
        place,
        flags: new Set(model.flags.get(place)?.map(({ word }) => word)),
      });
    });
  });

  const ROWS: readonly (readonly [string, string])[] = [
    ["que", "query"],
    ["query ba", "bank"],
    ["q bank supp", "supply-of"],
    ["--node N q --height 5 bank supp", "supply-of"],
    ["--trace keys sh", "show"],
    ["keys -a sh", "show"],
    ["keys -o json sh", "show"],
    ["deploy web.yaml p", ""],
    ["keys show -o ", "text json"],
    ["tx sign -a 12 m", "my file.yaml"],
    ["-a ke", "keys"],
    ["tx bank send --broad", "--broadcast-mode"],
    ["tx bank send -b ", "sync async block"],
    ["tx bank send --broadcast-mode = as", "async"],
    ["tx bank send --broadcast-mode = ", "sync async block"],
    ["tx bank send --sign-mode = direct --gen", "--generate-only"],
    ["tx bank send -b block --gen", "--generate-only"],
    ["tx bank send -y --gen", "--generate-only"],
    ["keys show --bech v", "val"],
    ["--log_level ", "trace debug info warn error fatal panic"],
    ["--output j", "json"],
    ["init -o ", ""],
    ["completion ", "bash zsh fish"],
    ["nonsense ", ""],
    ["keys show -- -", ""],
    ["tx sign my", "my file.yaml"],
    ["tx bank send my", ""],
    ["--home f", "folder"],
    ["keys add a --source m", "my file.yaml"],
    ["--", "--chain-id --home --profile --log_format --log_level --trace --help"],
  ];

  test("offers what fits", async () => {
    const lines = ROWS.map(([line]) => line.split(" "));
    const found = await offered(lines);
    const wanted = ROWS.map(([line, words]) => [line, words.split(" ").filter((word) => word !== "")]);
    expect(ROWS.map(([line], at) => [line, found[at]])).toEqual(wanted);
  });
});

/** Whether a shell is missing on a developer's machine; where everything must be tested the test fails instead. */
const lacks = (shell: string): boolean => process.env.CI !== "true" && spawnSync(shell, ["-c", "exit 0"]).status !== 0;
const SHELL_ROWS: readonly (readonly [string, readonly string[]])[] = [
  ["que", ["query"]],
  ["q bank supp", ["supply-of"]],
  ["--node N q --height 5 bank supp", ["supply-of"]],
  ["keys -a sh", ["show"]],
  ["keys show -o ", ["text", "json"]],
  ["tx bank send -b ", ["sync", "async", "block"]],
  ["tx bank send -y --gene", ["--generate-only"]],
  ["completion ", ["bash", "zsh", "fish"]],
  ["nonsense ", []],
  ["deploy web.yaml p", []],
  ["tx sign my", ["my file.yaml"]],
];

describe.skipIf(lacks("fish"))("completion in fish", () => {
  test.each(SHELL_ROWS)("svc %s", async (line, words) => {
    writeFileSync(join(dir, "svc.fish"), await script("fish"));
    const run = `source ../svc.fish; complete -C 'svc ${line}'`;
    const env = { ...process.env, HOME: dir };
    const { stdout, stderr } = spawnSync("fish", ["-N", "-c", run], { cwd: join(dir, "files"), encoding: "utf8", env });
    const found = stdout.split("\n").flatMap((row) => row.split("\t")[0] ?? []);
    expect({ stderr, found: found.filter((word) => word !== "").sort() }).toEqual({
      stderr: "",
      found: words.toSorted(),
    });
  });
});

describe.skipIf(lacks("zsh"))("completion in zsh", () => {
  /** Stand-ins for the shell's own helpers, which need the editor: they print what matches the word at the cursor. */
  const HELPERS = [
    "compdef() { : }",
    `show() { local w; for w in $@; do [[ $w == \${words[CURRENT]}* ]] && print -r -- $w; done; true }`,
    "compadd() { shift; show $@ }",
    `_describe() { show \${\${(P)@[-1]}%%:*} }`,
    `_files() { print -rl -- \${words[CURRENT]}*(N) }`,
  ];

  test.each(SHELL_ROWS)("svc %s", async (line, expected) => {
    writeFileSync(join(dir, "svc.zsh"), await script("zsh"));
    const words = line.split(" ").map((word) => `'${word}'`);
    const run = [
      ...HELPERS,
      "source ../svc.zsh",
      `words=(svc ${words.join(" ")})`,
      `CURRENT=${words.length + 1}`,
      "_svc",
    ];
    const { stdout, stderr } = spawnSync("zsh", ["-f", "-c", run.join("\n")], {
      cwd: join(dir, "files"),
      encoding: "utf8",
    });
    expect({ stderr, found: stdout.split("\n").filter((word) => word !== "") }).toEqual({
      stderr: "",
      found: expected,
    });
  });
});

describe.each(["zsh", "fish"])("the script for %s", (shell) => {
  test.skipIf(lacks(shell))("is understood by the shell", async () => {
    writeFileSync(join(dir, shell), await script(shell));
    const { status, stderr } = spawnSync(shell, ["-n", join(dir, shell)], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  test("names every command and flag with what it is for", async () => {
    const text = await script(shell);
    for (const candidates of [...model.children.values(), ...model.flags.values()]) {
      const lost = candidates.filter(({ word, summary }) => !text.includes(word) || !text.includes(escaped(summary)));
      expect(lost).toEqual([]);
    }
  });

  const escaped = (summary: string): string =>
    shell === "zsh" ? summary.replaceAll("'", "'\\''") : summary.replaceAll("'", "\\'");
});

test("an unknown shell is refused", async () => {
  const { code, err } = await runCli(["completion", "tcsh"]);
  expect(code).toBe(2);
  expect(err).toContain('unknown command "tcsh"');
});
