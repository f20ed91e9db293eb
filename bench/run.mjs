// Runs a benchmark: npm run bench -- <name> [arguments]. Without a name it lists the benchmarks.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const [name, ...args] = process.argv.slice(2);
const source = join(here, `${name}.bench.ts`);

if (name === undefined || !existsSync(source)) {
  const names = readdirSync(here).flatMap((file) => (file.endsWith(".bench.ts") ? [file.slice(0, -9)] : []));
  console.error(`usage: npm run bench -- <name> [arguments]\nbenchmarks: ${names.sort().join(", ")}`);
  process.exit(2);
}

const outfile = join(root, "node_modules", ".cache", "bench", `${name}.mjs`);
await build({
  absWorkingDir: root,
  entryPoints: [source],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: [
    "lmdb",
    "secp256k1",
    "ws",
    "fastify",
    "dockerode",
    "pino",
    "@peculiar/x509",
    "playwright-core",
    "reflect-metadata",
  ],
  define: { SVC_VERSION: '"bench"' },
  banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
  logLevel: "warning",
});
const { status } = spawnSync(process.execPath, ["--expose-gc", outfile, ...args], { stdio: "inherit" });
process.exit(status ?? 1);
