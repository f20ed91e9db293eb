import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { execFileSync } from "../support/bounded.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const work = mkdtempSync(join(tmpdir(), "svc-gen-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

function tree(dir: string): Map<string, string> {
  const found = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(dir, name)).isFile(),
  );
  return new Map(found.sort().map((name) => [name, readFileSync(join(dir, name), "utf8")]));
}

it("regenerating the protos changes nothing", { timeout: 120_000 }, () => {
  for (const name of ["proto", "buf.yaml", "buf.gen.yaml", "package.json"])
    cpSync(join(ROOT, name), join(work, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(work, "node_modules"));
  execFileSync(process.execPath, ["node_modules/@bufbuild/buf/bin/buf", "generate"], { cwd: work, stdio: "pipe" });
  expect(tree(join(work, "src/wire/gen"))).toEqual(tree(join(ROOT, "src/wire/gen")));
});
