// Bundles the command line into dist/: one entry, one chunk per lazily loaded part, so that `svc version` loads a few
// kilobytes. Native and large packages stay outside the bundle and are loaded by the commands that need them.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { directImports } from "./direct-imports.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const started = new Date();
const OLD_CHUNK_MS = 7 * 24 * 3600 * 1000;

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

const result = await build({
  absWorkingDir: root,
  entryPoints: { main: "src/cli/main.ts" },
  outdir: "dist",
  write: false,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  minifySyntax: true,
  minifyWhitespace: true,
  chunkNames: "chunks/[name]-[hash]",
  external: EXTERNAL,
  define: { SVC_VERSION: JSON.stringify(`v${version}`) },
  banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
  plugins: [directImports],
  logLevel: "warning",
});

// What is started first is one small CommonJS file; everything else is the module beside it.
const entry = await build({
  absWorkingDir: root,
  entryPoints: { svc: "src/cli/entry.ts" },
  outdir: "dist",
  outExtension: { ".js": ".cjs" },
  // An installed package starts it by itself.
  banner: { js: "#!/usr/bin/env node" },
  write: false,
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20.19",
  minifySyntax: true,
  define: { SVC_VERSION: JSON.stringify(`v${version}`) },
  plugins: [
    {
      name: "main-stays-a-module",
      setup: ({ onResolve }) => onResolve({ filter: /^\.\/main\.ts$/ }, () => ({ path: "./main.js", external: true })),
    },
  ],
  logLevel: "warning",
});

// Chunks are written before the entry that names them, and old ones stay for a while: a node or provider that runs
// from the previous build may still load one.
mkdirSync(join(dist, "chunks"), { recursive: true });
const last = ["main.js", "svc.cjs"];
const files = [...result.outputFiles, ...entry.outputFiles].toSorted(
  (a, b) => last.indexOf(basename(a.path)) - last.indexOf(basename(b.path)),
);
for (const file of files) {
  writeFileSync(`${file.path}.tmp`, file.contents);
  renameSync(`${file.path}.tmp`, file.path);
}
const current = new Set(files.map((file) => basename(file.path)));
for (const name of readdirSync(join(dist, "chunks"))) {
  const path = join(dist, "chunks", name);
  if (!current.has(name) && started.getTime() - statSync(path).mtimeMs > OLD_CHUNK_MS) unlinkSync(path);
}
// The stamp names the files of this build. It carries the time at which the build began, so that a source saved meanwhile
// counts as newer.
writeFileSync(join(dist, ".built"), `${files.map((file) => relative(dist, file.path)).join("\n")}\n`);
utimesSync(join(dist, ".built"), started, started);
