import {
  appendFileSync,
  cpSync,
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

/** Follows the checklist "a module" of CONTRIBUTING.md in a copy of the tree, with the module of `test/template/`. */

const ROOT = resolve(import.meta.dirname, "../..");
const TEMPLATE = join(ROOT, "test", "template");
const copy = mkdtempSync(join(tmpdir(), "svc-template-"));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** What a checkout has besides. */
const NOT_COPIED = ["node_modules", "dist", ".git", ".cache"];

function run(...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8" });
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

const buf = () => must("node_modules/@bufbuild/buf/bin/buf", "generate");
const generate = () => must("tools/proto-files.mjs");
const reference = () => must("tools/run.mjs", "tools/docs.ts");
const listed = () =>
  appendFileSync(join(copy, LIST), 'export { templateModule } from "../modules/template/index.ts";\n');

beforeAll(() => {
  for (const name of readdirSync(ROOT).filter((each) => !NOT_COPIED.includes(each))) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
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
const COMMANDS = "src/cli/autocli/groups.test.ts";
const PAGES = "test/docs.test.ts";

describe("a module made by the checklist", () => {
  it("compiles", () => must("node_modules/typescript/bin/tsc", "--noEmit"));

  it("is on every surface, and no guard objects", () => {
    const { status, said } = vitest(TREE, COMMANDS, PAGES, MODULE);
    expect(status, said).toBe(0);
    for (const page of ["cli.md", "errors.md", "events.md", "messages.md"]) {
      expect(readFileSync(join(copy, "docs", "reference", page), "utf8")).toContain("template");
    }
  });
});

describe("a list without the module turns a test red", () => {
  const original = (path: string) => () => cpSync(join(ROOT, path), join(copy, path), { recursive: true });

  it.each([
    ["the list of the application", original(LIST), listed, TREE],
    ["the list of generated files", original("src/wire/proto-files.ts"), generate, TREE],
    ["the list of modules with commands", original("src/wire/modules.ts"), generate, COMMANDS],
    ["the catalogue of errors", original(ERRORS), generate, TREE],
    ["its page", () => rmSync(join(copy, MODULE, "README.md")), place(MODULE), TREE],
    ["the reference", original("docs/reference"), reference, PAGES],
  ] as const)("%s", (_, forget, remember, guard) => {
    forget();
    expect(vitest(guard).status).toBe(1);
    remember();
  });
});
