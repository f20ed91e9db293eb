import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { buildOnce, MAIN } from "../../../test/support/build.ts";
import { SCRIPTS } from "./commands.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-completion-"));
afterAll(() => rmSync(dir, { recursive: true }));

beforeAll(async () => {
  await buildOnce();
  for (const folder of ["bin", "files/folder"]) mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, "files", "my file.yaml"), "");
  writeFileSync(join(dir, "bin", "svc"), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 });
  for (const [shell, script] of Object.entries(SCRIPTS)) writeFileSync(join(dir, `svc.${shell}`), script);
});

/** Whether a shell is missing on a developer's machine; where everything must be tested the test fails instead. */
const lacks = (shell: string): boolean => process.env.CI !== "true" && spawnSync(shell, ["-c", "exit 0"]).status !== 0;

/** Output of a shell that runs these lines in a folder with a file and a folder. */
function linesOf(shell: string, flags: readonly string[], script: readonly string[]): string[] {
  const env = {
    ...process.env,
    HOME: dir,
    SVC_HOME: join(dir, "home"),
    PATH: `${join(dir, "bin")}${delimiter}${process.env.PATH}`,
  };
  const options = { cwd: join(dir, "files"), encoding: "utf8", env } as const;
  const { stdout, stderr } = spawnSync(shell, [...flags, "-c", script.join("\n")], options);
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

const ROWS: readonly (readonly [string, readonly string[]])[] = [
  ["que", ["query"]],
  ["--node N q --height 5 bank supp", ["supply-of"]],
  ["keys show -o ", ["text", "json"]],
  ["tx bank send -y --gene", ["--generate-only"]],
  ["nonsense ", []],
  ["tx sign my", ["my file.yaml"]],
  ["tx sign --home f", ["folder"]],
];

describe.skipIf(lacks("bash"))("completion in bash", () => {
  /** The words as bash splits them. */
  const BASH_ROWS = [...ROWS, ["tx bank send --broadcast-mode = as", ["async"]], ["--home = f", ["folder"]]] as const;

  test.each(BASH_ROWS)("svc %s", (line, words) => {
    const quoted = line.split(" ").map((word) => `'${word}'`);
    const asked = [`COMP_WORDS=(svc ${quoted.join(" ")})`, `COMP_CWORD=${quoted.length}`, "_svc svc"];
    const shown = [`printf '%s\\n' "\${COMPREPLY[@]}"`];
    expect(linesOf("bash", ["--norc"], ["source ../svc.bash", ...asked, ...shown])).toEqual(words);
  });

  test("is registered for svc", () => {
    expect(linesOf("bash", ["--norc"], ["source ../svc.bash", "complete -p svc"])).toEqual(["complete -F _svc svc"]);
  });
});

describe.skipIf(lacks("fish"))("completion in fish", () => {
  test.each(ROWS)("svc %s", (line, words) => {
    const found = linesOf("fish", ["-N"], ["source ../svc.fish", `complete -C 'svc ${line}'`]);
    // Fish sorts, and marks folders.
    const plain = found.map((row) => (row.split("\t")[0] ?? "").replace(/\/$/, ""));
    expect(plain).toEqual(words.toSorted());
  });

  test("shows what a command is for", () => {
    const found = linesOf("fish", ["-N"], ["source ../svc.fish", "complete -C 'svc que'"]);
    expect(found).toEqual(["query\tAsk a node about the chain"]);
  });
});

describe.skipIf(lacks("zsh"))("completion in zsh", () => {
  /** Stand-ins for the shell's own helpers, which need the editor: they print what matches the word at the cursor. */
  const HELPERS = [
    "compdef() { : }",
    "compset() { : }",
    `_describe() { local w; for w in \${(P)@[-1]}; do print -r -- \${w%%:*}; done }`,
    `_files() { if [[ $1 == -/ ]]; then print -rl -- \${words[CURRENT]}*(N/); else print -rl -- \${words[CURRENT]}*(N); fi }`,
  ];

  test.each(ROWS)("svc %s", (line, expected) => {
    const words = line.split(" ").map((word) => `'${word}'`);
    const asked = [`words=(svc ${words.join(" ")})`, `CURRENT=${words.length + 1}`, "_svc"];
    expect(linesOf("zsh", ["-f"], [...HELPERS, "source ../svc.zsh", ...asked])).toEqual(expected);
  });

  test("shows what a command is for", () => {
    const describe_ = `_describe() { print -r -- \${(P)@[-1]} }`;
    const asked = ["words=(svc que)", "CURRENT=2", "_svc"];
    expect(linesOf("zsh", ["-f"], [...HELPERS, describe_, "source ../svc.zsh", ...asked])).toEqual([
      "query:Ask a node about the chain",
    ]);
  });
});

test.each(["bash", "zsh", "fish"] as const)("svc completion %s prints its script", async (shell) => {
  expect(await runCli(["completion", shell])).toEqual({ code: 0, out: SCRIPTS[shell], err: "" });
});

test("an unknown shell is refused", async () => {
  const { code, err } = await runCli(["completion", "tcsh"]);
  expect(code).toBe(2);
  expect(err).toContain('unknown command "tcsh"');
});
