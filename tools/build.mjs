// Bundles the command line into dist/: a small entry, the program in one file, and V8's code of that file, which saves a third of
// the time that a command takes to start. Native and large packages stay outside and are loaded by the commands that need them.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { deferredFiles } from "./deferred-files.mjs";
import { directImports } from "./direct-imports.mjs";
import { lazySpawn } from "./lazy-spawn.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const started = new Date();
const OLD_MS = 3600 * 1000;

const EXTERNAL = [
  "@napi-rs/keyring",
  "@peculiar/x509",
  "dockerode",
  "fastify",
  "lmdb",
  "node-hid",
  "pino",
  "reflect-metadata",
  "secp256k1",
  "tar-stream",
  "ws",
];

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const common = {
  absWorkingDir: root,
  outdir: "dist",
  write: false,
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20.19",
  minifySyntax: true,
  logLevel: "warning",
};
const constants = { SVC_VERSION: JSON.stringify(`v${version}`) };

// The hash in its name keeps a program and V8's code for it together, whatever else is written meanwhile. The file is a
// function of a module, so that it can be compiled as it stands.
const program = await build({
  ...common,
  entryPoints: { main: "src/cli/main.ts" },
  entryNames: "[name]-[hash]",
  outExtension: { ".js": ".cjs" },
  minifyWhitespace: true,
  external: EXTERNAL,
  plugins: [deferredFiles, directImports, lazySpawn],
  define: { ...constants, "import.meta.url": "__moduleUrl" },
  banner: {
    js: '(function(exports,require,module,__filename,__dirname,__import){const __moduleUrl=require("node:url").pathToFileURL(__filename).href;',
  },
  footer: { js: "})" },
});
const main = program.outputFiles[0].path;
const entry = await build({
  ...common,
  entryPoints: { svc: "src/cli/entry.ts" },
  outExtension: { ".js": ".cjs" },
  // An installed package starts it by itself.
  banner: { js: "#!/usr/bin/env node" },
  define: { ...constants, SVC_MAIN: JSON.stringify(basename(main)) },
});

// Code that V8 kept cannot import by itself: whoever starts it hands the way in.
const contents = program.outputFiles[0].text.replace(/(?<![\w$.])import\((?=")/g, "__import(");

/** Whole or not at all: another process may start the program at any time. */
function write({ path, contents }) {
  writeFileSync(`${path}.tmp`, contents);
  renameSync(`${path}.tmp`, path);
}

mkdirSync(dist, { recursive: true });
write({ path: main, contents });
const tool = [join(root, "tools", "run.mjs"), join(root, "tools", "code-cache.ts"), main];
if (spawnSync(process.execPath, tool, { stdio: ["ignore", "ignore", "inherit"] }).status !== 0) process.exit(1);
entry.outputFiles.forEach(write);

// A process that starts this moment may still want the program of the build before.
for (const name of readdirSync(dist).filter((each) => each.startsWith("main-") && !each.startsWith(basename(main)))) {
  const path = join(dist, name);
  if (started.getTime() - statSync(path).mtimeMs > OLD_MS) rmSync(path);
}
// The stamp names the files of this build. It carries the time at which the build began, so that a source saved meanwhile
// counts as newer.
const files = [...program.outputFiles, ...entry.outputFiles].map(({ path }) => basename(path));
writeFileSync(join(dist, ".built"), `${files.join("\n")}\n`);
utimesSync(join(dist, ".built"), started, started);
