// Bundles the command line: node tools/build.mjs [folder, dist by default, below the checkout]. It writes a small entry, the
// program in three files, and their V8 code, which saves a third of the start-up time of a command. The first file holds the
// modules that everyday commands load, the second the further ones for a node. Native packages stay outside. The console's pages
// follow.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bakedDescriptors, bakedFiles } from "./baked-descriptors.mjs";
import { buildConsole } from "./console.mjs";
import { DEFERRED, deferredFiles, protoFiles } from "./deferred-files.mjs";
import { directImports } from "./direct-imports.mjs";
import { lazySpawn } from "./lazy-spawn.mjs";
import { Chunks } from "./packs.mjs";
import { withoutSsh } from "./without-ssh.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = resolve(root, process.argv[2] ?? "dist");
const started = new Date();
const OLD_MS = 3600 * 1000;
const MAIN = "src/cli/main.ts";
const THREAD = "src/node/serving/thread.ts";
const PLANE = "src/provider/plane/process.ts";
const WEIGHER = "src/provider/cluster/docker/images/weighing/process.ts";

const EXTERNAL = ["@napi-rs/keyring", "lmdb", "node-hid", "secp256k1"];

/** Packages in the program that it also requires by name, where a native one is missing. */
const REQUIRED = ["@noble/curves", "@noble/hashes"];

/** Folder of the package that a file belongs to. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const common = {
  absWorkingDir: root,
  outdir: "dist",
  write: false,
  bundle: true,
  platform: "node",
  target: "node20.19",
  minifySyntax: true,
  logLevel: "warning",
};
const git = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
// A package inside another repository does not belong to its commit.
const commit = git.status === 0 && existsSync(join(root, ".git")) ? git.stdout.trim() : "";
const constants = { SVC_VERSION: JSON.stringify(`v${version}`), SVC_COMMIT: JSON.stringify(commit) };

/** Written as a whole or not at all: another process may start the program at any time. */
function write(path, contents) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}

const files = protoFiles(root);
const bundle = await build({
  ...common,
  entryPoints: [MAIN, THREAD, PLANE, WEIGHER, ...files.map(({ source }) => source)],
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  format: "esm",
  splitting: true,
  metafile: true,
  minifyWhitespace: true,
  external: EXTERNAL,
  plugins: [bakedDescriptors, bakedFiles, deferredFiles(files), directImports, lazySpawn, withoutSsh],
  define: { ...constants, "import.meta.url": "$moduleUrl" },
});
const chunks = new Chunks(bundle, "dist");
// All use the entry's access to packages: to create another, Node.js would load its module loader.
chunks.replace(/const \{createRequire(:\w+)?\}=require\("node:module"\);/g, () => "");
chunks.replace(/\bcreateRequire\d*\(\$moduleUrl\)/g, () => "require");
chunks.replace(DEFERRED, (_, source) => chunks.numberOf(source));

/** Runs the everyday commands of a program in a folder. */
function everyday(folder, packs, wanted) {
  const plan = join(folder, `plan-${process.pid}.json`);
  const named = packs.map(({ file, numbers }) => ({ file, chunks: numbers }));
  write(plan, JSON.stringify({ folder, packs: named, main: chunks.numberOf(MAIN), wanted }));
  const tool = [join(root, "tools", "run.mjs"), join(root, "tools", "code-cache.ts"), plan];
  const { status, stdout } = spawnSync(process.execPath, tool, { stdio: ["ignore", "pipe", "inherit"] });
  rmSync(plan);
  if (status !== 0) process.exit(1);
  return stdout.toString();
}

/** The chunks in packs, by the loads of everyday commands. */
function packed() {
  const trial = mkdtempSync(join(dist, "trial-"));
  try {
    const all = chunks.pack("all", chunks.numbers);
    write(join(trial, all.file), all.contents);
    const [alone, withNode] = JSON.parse(everyday(trial, [all], "chunks"));
    const rest = chunks.numbers.filter((number) => !alone.includes(number) && !withNode.includes(number));
    return [chunks.pack("main", alone), chunks.pack("client", withNode), chunks.pack("rest", rest)];
  } finally {
    rmSync(trial, { recursive: true });
  }
}

mkdirSync(dist, { recursive: true });
const packs = packed();
for (const { file, contents } of packs) write(join(dist, file), contents);
everyday(dist, packs, "code");

const entry = await build({
  ...common,
  entryPoints: { svc: "src/cli/entry.ts" },
  outExtension: { ".js": ".cjs" },
  format: "cjs",
  // An installed package starts it by itself.
  banner: { js: "#!/usr/bin/env node" },
  define: {
    ...constants,
    SVC_MAIN: JSON.stringify(chunks.numberOf(MAIN)),
    SVC_THREAD: JSON.stringify(chunks.numberOf(THREAD)),
    SVC_PLANE: JSON.stringify(chunks.numberOf(PLANE)),
    SVC_WEIGHER: JSON.stringify(chunks.numberOf(WEIGHER)),
    SVC_PACKS: JSON.stringify(packs.map(({ file, numbers }) => ({ file, chunks: numbers }))),
  },
});
for (const { path, contents } of entry.outputFiles) write(join(dist, basename(path)), contents);
await buildConsole(dist);

// A process that starts at this moment may still need the program of the previous build.
const isOwn = (name) => packs.some(({ file }) => name.startsWith(file));
for (const name of readdirSync(dist).filter((each) => /^(main|client|rest|trial)-/.test(each) && !isOwn(each))) {
  const path = join(dist, name);
  if (started.getTime() - statSync(path).mtimeMs > OLD_MS) rmSync(path, { recursive: true });
}
/** Files that a build may read, below the checkout. */
function sources() {
  const below = (folder, recursive) =>
    readdirSync(join(root, folder), { recursive, withFileTypes: true })
      .filter((each) => each.isFile() && !/\.(test\.ts|d\.m?ts|md)$/.test(each.name))
      .map((each) => relative(root, join(each.parentPath, each.name)));
  return ["package.json", "package-lock.json", ...below("tools", false), ...below("src", true)];
}

// A release compiles the program again, with the Node.js of its archive.
const named = packs.map(({ file, numbers }) => ({ file, chunks: numbers }));
/** Paths, as in the lockfile, of the packages inside the program. */
const inside = new Set(Object.keys(bundle.metafile.inputs).flatMap((path) => PACKAGE.exec(path)?.[0] ?? []));
const plan = {
  packs: named,
  main: chunks.numberOf(MAIN),
  packages: [...EXTERNAL, ...REQUIRED],
  inside: [...inside].sort(),
};
write(join(dist, ".plan"), JSON.stringify(plan));
// ./svc checks whether one of these has changed; a new file changes the file that imports it.
write(join(dist, ".inputs"), sources().join("\0"));
// The stamp names the files of this build. It carries the time at which the build began, so that a source saved meanwhile
// counts as newer.
const names = [...packs.map(({ file }) => file), ...entry.outputFiles.map(({ path }) => basename(path))];
writeFileSync(join(dist, ".built"), `${names.join("\n")}\n`);
utimesSync(join(dist, ".built"), started, started);
