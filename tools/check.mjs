// Run after every change: lint, types and the quick tests, all at one time.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
mkdirSync(join(root, ".cache"), { recursive: true });

/** Runs a program and keeps what it says until it has ended, so that nothing comes between its lines. */
async function check(name, script, args) {
  const child = spawn(process.execPath, [join(modules, script), ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { FORCE_COLOR: process.stdout.isTTY ? "1" : "0", ...process.env },
  });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => said.push(bytes));
  const ok = await new Promise((resolve) => child.once("close", (code) => resolve(code === 0)));
  console.log(`\n== ${name}`);
  process.stdout.write(Buffer.concat(said));
  return ok ? [] : [name];
}

const types = (name) => ["--noEmit", "--incremental", "--tsBuildInfoFile", `.cache/${name}.tsbuildinfo`];
const failed = await Promise.all([
  check("lint", "@biomejs/biome/bin/biome", ["check"]),
  check("types", "typescript/bin/tsc", types("types")),
  check("types of the console", "typescript/bin/tsc", ["--project", "src/console", ...types("console")]),
  check("tests", "vitest/vitest.mjs", ["run", "--project", "unit", "--silent=passed-only"]),
]);
const names = failed.flat();
console.log(names.length === 0 ? "\nall is well" : `\nFAILED: ${names.join(", ")}`);
process.exitCode = names.length === 0 ? 0 : 1;
