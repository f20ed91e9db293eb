import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spawnSync } from "../support/bounded.ts";
import { atNight } from "../support/runs.ts";

/** Follows the checklist "a module" of CONTRIBUTING.md in a copy of the tree, with the module of `test/template/`. */

const ROOT = resolve(import.meta.dirname, "../..");
const TEMPLATE = join(ROOT, "test", "template");
const copy = mkdtempSync(join(tmpdir(), "svc-template-"));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Other contents of a checkout. */
const NOT_COPIED = ["node_modules", "dist", ".git", ".cache"];

function run(...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: copy,
    encoding: "utf8",
    timeout: 240_000,
  });
  return { status, said: `${stdout}${stderr}` };
}

function must(...args: readonly string[]): void {
  const { status, said } = run(...args);
  expect(status, said).toBe(0);
}

/** A file or folder as the template has it. */
const place = (path: string) => () => cpSync(join(TEMPLATE, path), join(copy, path), { recursive: true });
const vitest = (...files: readonly string[]) =>
  run("node_modules/vitest/vitest.mjs", "run", "--config", "template.config.ts", ...files);

const LIST = "src/app/modules.ts";
const ERRORS = "src/wire/errors/tables.ts";
const MODULE = "src/modules/template";
const TYPES = ".cache/types.tsbuildinfo";

/** `generated.test.ts` lints the protos of the whole tree. */
const buf = () => {
  const whole = readFileSync(join(copy, "buf.gen.yaml"), "utf8");
  writeFileSync(join(copy, "buf.part.yaml"), whole.replace("clean: true", "clean: false"));
  must("node_modules/@bufbuild/buf/bin/buf", "generate", "--template", "buf.part.yaml", "--path", "proto/svc/template");
};
const generate = () => must("tools/proto-files.mjs");
const reference = () => must("tools/run.mjs", "tools/docs.ts");
const listed = () =>
  appendFileSync(join(copy, LIST), 'export { templateModule } from "../modules/template/index.ts";\n');

beforeAll(() => {
  for (const name of readdirSync(ROOT).filter((each) => !NOT_COPIED.includes(each))) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  // The compiler's cache for the checkout is valid for the copy.
  if (existsSync(join(ROOT, TYPES))) cpSync(join(ROOT, TYPES), join(copy, TYPES));
  const experimental = { fsModuleCache: true, fsModuleCachePath: ".cache" };
  const config = { test: { experimental, isolate: false, testTimeout: 120_000, hookTimeout: 120_000 } };
  writeFileSync(join(copy, "template.config.ts"), `export default ${JSON.stringify(config)};\n`);
  // The steps of the checklist.
  place("proto")();
  place("src/wire/errors/template.ts")();
  buf();
  generate();
  place(MODULE)();
  listed();
  reference();
  cpSync(join(TEMPLATE, "template.test.ts"), join(copy, MODULE, "template.test.ts"));
});

const TREE = "test/tidy.test.ts";
/** All tests but the bounds on counts, which hold for a tree without the module. */
const WITHOUT_RATCHETS = "^(?!.*has no more lines)";
const COMMANDS = "src/cli/autocli/groups.test.ts";
const PAGES = "test/docs.test.ts";
const PARAMETERS = "src/app/params.test.ts";
const ORDER = "src/app/order.test.ts";

describe("a module made by the checklist", () => {
  it("compiles", () =>
    must("node_modules/typescript/bin/tsc", "--noEmit", "--incremental", "--tsBuildInfoFile", TYPES));

  it("is on every surface, and no guard objects", () => {
    const { status, said } = vitest(TREE, COMMANDS, PAGES, MODULE, "-t", WITHOUT_RATCHETS);
    expect(status, said).toBe(0);
    for (const page of ["cli.md", "errors.md", "events.md", "messages.md"]) {
      expect(readFileSync(join(copy, "docs", "reference", page), "utf8")).toContain("template");
    }
  });
});

/** The titles of those of the tests that fail; no others run. */
function failing(files: readonly string[], titles: readonly string[]): string[] {
  const report = join(copy, ".cache", "report.json");
  vitest(...files, "-t", titles.join("|"), "--reporter=json", `--outputFile=${report}`);
  const { testResults }: Report = JSON.parse(readFileSync(report, "utf8"));
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  return [...new Set(results.flatMap(({ status, title }) => (status === "failed" ? [title] : [])))].sort();
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
  }[];
}

atNight(() =>
  describe("a list without the module turns a test red", () => {
    const README = `${MODULE}/README.md`;
    const NAMES = "src/wire/modules.ts";
    const FILES = "src/wire/proto-files.ts";
    const PAGE = "docs/reference/messages.md";

    it.each([
      [
        "the lists of the application, of commands and of errors, and its page",
        [LIST, NAMES, README, ERRORS],
        [TREE, COMMANDS],
        [
          "has every module in the list of the application, and its services among the registered ones",
          "the table of modules is what the options of their services say",
          "gives every module the same files",
          "has the errors of every module in the catalogue that clients read",
        ],
      ],
      [
        "the list of generated files",
        [FILES],
        [TREE],
        ["has every module in the list of the application, and its services among the registered ones"],
      ],
      ["the reference", [PAGE], [PAGES], ["are those that `npm run docs` makes"]],
    ])("%s", (_, forgotten, guards, titles) => {
      const kept = forgotten.map((path) => [path, readFileSync(join(copy, path), "utf8")] as const);
      for (const path of forgotten) {
        if (existsSync(join(ROOT, path))) cpSync(join(ROOT, path), join(copy, path));
        else rmSync(join(copy, path));
      }
      const red = failing(guards, titles);
      for (const [path, text] of kept) writeFileSync(join(copy, path), text);
      expect(red).toEqual([...titles].sort());
    });

    it("lists of tests: limits of parameters, published names, gas, the order of modules", () => {
      const titles = [
        "all have their limits in this table, except switches",
        "every message of the marketplace that users send is measured",
        "have the names, actions and signers that were published",
        "modules are imported and exported in the order that is written down",
        "the worst content of every message is measured, or a reason is given why not",
      ];
      const files = [PARAMETERS, ORDER, "src/wire/registry.test.ts", "test/gas.test.ts"];
      expect(failing(files, titles)).toEqual(titles);
    });
  }),
);
