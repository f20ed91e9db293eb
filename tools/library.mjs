// Makes the library of the package: node tools/library.mjs [folder, dist/lib by default]. The compiler writes one
// module with its types for each source; imports through the door of a folder then become imports from the defining
// file, so that a bundler, a browser or Node.js loads only the used modules.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Doors } from "./library/doors.mjs";
import { reachable } from "./library/reachable.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = resolve(root, process.argv[2] ?? "dist/lib");

/** Files below a folder, as paths relative to it. */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function compile(folder) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const args = [tsc, "--project", join(root, "tools", "library.json"), "--outDir", folder];
  const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(1);
  cpSync(join(root, "src", "wire", "gen"), join(folder, "wire", "gen"), { recursive: true });
}

/** The compiler keeps the names of sources in the types that it writes. */
function nameTypes(folder) {
  for (const name of filesBelow(folder).filter((file) => file.endsWith(".d.ts"))) {
    const text = readFileSync(join(folder, name), "utf8");
    writeFileSync(join(folder, name), text.replace(/((?:from|import)\s*\(?\s*"\.[^"]+)\.ts"/g, '$1.js"'));
  }
}

/** Removes from the folder everything to which no entry point leads. */
function prune(folder) {
  const files = filesBelow(folder);
  // Threads of a node begin with a file that no other file imports.
  const isRoot = (name) =>
    /^(library\/[^/]*|wire\/gen\/.*|.*\.browser)\.(js|d\.ts)$/.test(name) || name === "node/serving/thread.js";
  const kept = reachable(folder, files.filter(isRoot));
  for (const name of files) if (!kept.has(name)) rmSync(join(folder, name));
}

const made = mkdtempSync(join(root, "node_modules", ".library-"));
try {
  compile(made);
  nameTypes(made);
  const doors = new Doors(made);
  const rewritten = filesBelow(made)
    .filter((name) => !name.startsWith("wire/gen/"))
    .map((name) => [name, doors.opened(name, readFileSync(join(made, name), "utf8"))]);
  for (const [name, text] of rewritten) writeFileSync(join(made, name), text);
  prune(made);
  rmSync(out, { recursive: true, force: true });
  cpSync(made, out, { recursive: true });
} finally {
  rmSync(made, { recursive: true, force: true });
}
