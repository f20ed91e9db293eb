// Bundles the pages of the console into dist/console/: static files that any server can serve below any path. index.html
// names a script and a style sheet by their hashes; each page is a chunk of its own, and the descriptors of all messages are one
// binary file. Nothing stands in the HTML itself, as the pages' policy forbids scripts and styles there.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { build, transform } from "esbuild";
import { rollup } from "rollup";
import { directImports } from "./direct-imports.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = join(root, "src", "console");
const TARGET = ["chrome120", "firefox121", "safari17.5"];
const COMPRESSED = /\.(?:html|js|css|bin|svg)$/;

/** The packages of the pages. They are in the bundle alone, so an installation of svc does not bring them. */
export const PACKAGES = [
  "@codemirror/commands",
  "@codemirror/lang-yaml",
  "@codemirror/language",
  "@codemirror/search",
  "@codemirror/state",
  "@codemirror/view",
  "@preact/signals",
  "@xterm/addon-fit",
  "@xterm/xterm",
  "preact",
];

/** Files for browsers stand in for those beside them, and nothing of Node.js is left. */
const forBrowsers = {
  name: "for-browsers",
  setup(build) {
    build.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => {
      const variant = resolve(resolveDir, path).replace(/\.ts$/, ".browser.ts");
      return existsSync(variant) ? { path: variant } : undefined;
    });
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
  },
};

/** Sources of the workers: one derives keys, the other follows new blocks. */
const WORKERS = {
  "argon2-worker.js": "src/console/wallet/argon2-worker.ts",
  "blocks-worker.js": "src/console/live/blocks/worker.ts",
};

/** The list of all messages, and the workers, are files that are read when they are first needed. */
const partsAsFiles = {
  name: "parts-as-files",
  setup(build) {
    build.onResolve({ filter: /\/proto-files\.ts$/ }, () => ({ path: join(SOURCES, "live", "proto-files.ts") }));
    build.onResolve({ filter: /^virtual:descriptors\.bin$/ }, () => ({
      path: "descriptors.bin",
      namespace: "virtual",
    }));
    build.onResolve({ filter: /^virtual:.*-worker\.js$/ }, ({ path }) => ({
      path: path.slice("virtual:".length),
      namespace: "virtual",
    }));
    build.onLoad({ filter: /./, namespace: "virtual" }, async ({ path }) => ({
      contents: path === "descriptors.bin" ? await descriptors() : await worker(WORKERS[path]),
      loader: "file",
    }));
  },
};

/** The descriptors of all messages and of what they import, as a `FileDescriptorSet`. */
async function descriptors() {
  const { outputFiles } = await build({
    entryPoints: [join(root, "src", "wire", "proto-files.ts")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
  });
  const { PROTO_FILES } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
  );
  const files = new Map();
  const add = (file) => {
    if (files.has(file.proto.name)) return;
    for (const each of file.dependencies) add(each);
    files.set(file.proto.name, file.proto);
  };
  for (const { file } of PROTO_FILES) add(file());
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...files.values()] }));
}

/** The script of a worker. It is one file, since a worker is loaded by its name alone. */
async function worker(source) {
  const { outputFiles } = await build({
    entryPoints: [join(root, source)],
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    target: TARGET,
    legalComments: "none",
    plugins: [forBrowsers, directImports],
  });
  return outputFiles[0].contents;
}

/**
 * The frame of the terminal: one file, since a frame without an origin loads no others. Its policy names its script by the hash, and
 * lets it set styles, which the policy of the pages forbids.
 */
async function terminal() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { frame: join(SOURCES, "terminal", "frame.ts"), style: join(SOURCES, "terminal", "frame.css") },
    outdir: "out",
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: TARGET,
    legalComments: "none",
    logLevel: "warning",
    plugins: [forBrowsers, directImports],
  });
  const textOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text.trim();
  const [script, style] = [textOf(".js"), textOf(".css")];
  if (/<\/(?:script|style)/i.test(script + style)) throw new Error("the terminal would end its own page");
  const hash = createHash("sha256").update(script).digest("base64");
  const html = readFileSync(join(SOURCES, "terminal", "terminal.html"), "utf8")
    .replace("SCRIPT-HASH", `sha256-${hash}`)
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace("<script></script>", () => `<script>${script}</script>`);
  return { html, inputs: metafile.inputs };
}

/**
 * The bundle with fewer scripts: esbuild makes a script of each part that two pages share, and Rollup knows what the first page has
 * already. `scripts` has the sources that each is made for, and the scripts that it cannot run without.
 */
async function joined(bundled, { outputs }) {
  const sourceOf = (path) => outputs[`out/${path}`]?.entryPoint;
  const files = new Map(bundled);
  const take = (path) => {
    const script = files.get(path)?.toString();
    files.delete(path);
    return script;
  };
  const bundle = await rollup({
    // esbuild has left out what is not used.
    treeshake: false,
    input: [...bundled.keys()].find((path) => sourceOf(path) === "src/console/main.tsx"),
    plugins: [
      {
        name: "bundled",
        resolveId: (path, from) => (from === undefined ? path : posix.join(posix.dirname(from), path)),
        load: take,
        // Before Rollup names a script by its hash.
        renderChunk: (code) => transform(code, { minify: true, format: "esm", target: TARGET, legalComments: "none" }),
      },
    ],
  });
  const nameOf = ({ name }) => `assets/${name.replace(/-[A-Z0-9]{8}$/, "")}-[hash].js`;
  const { output } = await bundle.generate({
    entryFileNames: nameOf,
    chunkFileNames: nameOf,
    hashCharacters: "base36",
  });
  // Scripts of esbuild to which no import led Rollup: no page loads them.
  for (const path of files.keys()) if (path.endsWith(".js") && sourceOf(path) !== undefined) files.delete(path);
  const scripts = new Map();
  for (const { fileName, code, imports, moduleIds } of output) {
    files.set(fileName, Buffer.from(code));
    scripts.set(fileName, { sources: moduleIds.map(sourceOf).filter((each) => each !== undefined), imports });
  }
  return { files, scripts };
}

/** The files of the console by their paths below its folder. */
export async function bundleConsole() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { console: join(SOURCES, "main.tsx") },
    outdir: "out",
    entryNames: "assets/[name]-[hash]",
    chunkNames: "assets/[name]-[hash]",
    assetNames: "assets/[name]-[hash]",
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: TARGET,
    loader: { ".yaml": "text" },
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
    plugins: [forBrowsers, partsAsFiles, directImports],
  });
  const out = join(root, "out");
  const bundled = new Map(outputFiles.map(({ path, contents }) => [path.slice(out.length + 1), Buffer.from(contents)]));
  const { files, scripts } = await joined(bundled, metafile);
  for (const [path, contents] of files) {
    if (/\bfrom ?"node:/.test(contents.toString("latin1"))) throw new Error(`${path} needs Node.js`);
  }
  files.set("index.html", Buffer.from(page([...files.keys()])));
  const frame = await terminal();
  files.set("terminal.html", Buffer.from(frame.html));
  return { files, scripts, inputs: [...Object.keys(metafile.inputs), ...Object.keys(frame.inputs)] };
}

/** index.html with the names of the script and of the style sheet. */
function page(names) {
  const named = (ending) => names.find((name) => name.startsWith("assets/console-") && name.endsWith(ending));
  return readFileSync(join(SOURCES, "index.html"), "utf8")
    .replace("main.tsx", () => named(".js"))
    .replace("style.css", () => named(".css"));
}

/** Writes the console, and removes files of earlier builds. A server that reads meanwhile finds the old page or the new one. */
function write(folder, files) {
  mkdirSync(join(folder, "assets"), { recursive: true });
  const wanted = new Map(files);
  for (const [path, contents] of files) {
    if (COMPRESSED.test(path)) wanted.set(`${path}.gz`, gzipSync(contents, { level: 9 }));
  }
  // The page that names the others is written last.
  for (const [path, contents] of [...wanted].sort(
    ([a], [b]) => Number(a.startsWith("index")) - Number(b.startsWith("index")),
  )) {
    const draft = join(folder, `${path}.${process.pid}`);
    writeFileSync(draft, contents);
    renameSync(draft, join(folder, path));
  }
  for (const name of readdirSync(join(folder, "assets"))) {
    if (!wanted.has(`assets/${name}`)) rmSync(join(folder, "assets", name), { force: true });
  }
}

/** Whether a file that the last build read has changed since. */
function isCurrent(stamp) {
  if (!existsSync(stamp)) return false;
  const built = statSync(stamp).mtimeMs;
  return readFileSync(stamp, "utf8")
    .split("\0")
    .every(
      (path) => (statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) < built,
    );
}

/** Builds console/ in the folder of the program unless it is current. */
export async function buildConsole(program = join(root, "dist")) {
  const folder = join(program, "console");
  const stamp = join(program, ".console");
  if (isCurrent(stamp)) return;
  const { files, inputs: read } = await bundleConsole();
  write(folder, files);
  const inputs = read.filter((path) => /^(?:src|examples|node_modules)\//.test(path));
  const fixed = [
    "src/console/index.html",
    "src/console/terminal/terminal.html",
    "src/wire/proto-files.ts",
    ...Object.values(WORKERS),
    "src/console/live/blocks/digest.ts",
    "tools/console.mjs",
    "package-lock.json",
  ];
  writeFileSync(stamp, [...new Set([...inputs, ...fixed])].join("\0"));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildConsole();
