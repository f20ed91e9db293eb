// Runs a TypeScript file of this checkout: node tools/run.mjs <file> [arguments]. It is bundled first, so that Node.js
// versions without TypeScript of their own can run it.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node tools/run.mjs <file.ts> [arguments]");
  process.exit(2);
}

// Below node_modules, where the bundle finds the packages that stay outside of it.
const cache = join(root, "node_modules", ".cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "run-"));
// Ctrl-C reaches the program itself, which ends in its own way.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
try {
  const outfile = join(folder, "main.mjs");
  await build({
    absWorkingDir: root,
    entryPoints: [resolve(file)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    logLevel: "warning",
  });
  const { status } = spawnSync(process.execPath, [outfile, ...args], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
