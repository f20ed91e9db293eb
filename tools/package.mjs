// Makes the npm package: node tools/package.mjs [folder] [folder of the program] [--built], both dist by default. Command (unless it
// is built already) and library are built, put beside one another in a folder of their own with guides, examples, man pages and the
// packages that it needs, and packed; the path of the tarball is printed. Nothing is published: the package is private.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundlePackages } from "./release/bundled.mjs";
import { licences } from "./release/packages.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values, positionals } = parseArgs({ options: { built: { type: "boolean" } }, allowPositionals: true });
const target = resolve(positionals[0] ?? join(root, "dist"));
const program = resolve(positionals[1] ?? join(root, "dist"));
/** Pages by their names in the package, whose first page is for users of the package. */
const PAGES = { "docs/npm.md": "README.md", LICENSE: "LICENSE", "CHANGELOG.md": "CHANGELOG.md" };
const FOLDERS = ["docs/guides", "examples"];
/** Fields that an installation does not need. */
const OWN_FIELDS = ["scripts", "devDependencies", "overrides"];

function run(command, args) {
  // npm names every file of the package.
  const maxBuffer = 64 * 1024 * 1024;
  const { status, stdout, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", "pipe", 2], maxBuffer });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(1);
  return stdout.toString();
}

function writeJson(name, value) {
  writeFileSync(join(stage, name), `${JSON.stringify(value, null, 2)}\n`);
}

const stage = mkdtempSync(join(tmpdir(), "svc-package-"));
try {
  if (values.built !== true) run(process.execPath, [join(root, "tools", "build.mjs"), program]);
  run(process.execPath, [join(root, "tools", "library.mjs"), join(stage, "dist", "lib")]);
  const command = readFileSync(join(program, ".built"), "utf8").trim().split("\n");
  // The archives of a release are made from the package, by the plan of its program.
  for (const name of [...command, ".plan", "console"])
    cpSync(join(program, name), join(stage, "dist", name), { recursive: true });
  chmodSync(join(stage, "dist", "svc.cjs"), 0o755);
  for (const [from, name] of Object.entries(PAGES)) cpSync(join(root, from), join(stage, name));
  for (const name of FOLDERS) cpSync(join(root, name), join(stage, name), { recursive: true });
  const { inside } = JSON.parse(readFileSync(join(program, ".plan"), "utf8"));
  writeFileSync(join(stage, "THIRD-PARTY-LICENSES.txt"), licences(inside));
  run(process.execPath, [join(root, "tools", "run.mjs"), join(root, "tools", "man.ts"), join(stage, "man")]);
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const kept = Object.entries(manifest).filter(([name]) => !OWN_FIELDS.includes(name));
  // npm puts the pages of a global installation where `man` finds them.
  const man = readdirSync(join(stage, "man", "man1")).map((name) => `man/man1/${name}`);
  writeJson("package.json", { ...Object.fromEntries(kept), ...bundlePackages(root, stage), man });
  mkdirSync(target, { recursive: true });
  const [packed] = JSON.parse(run("npm", ["pack", stage, "--pack-destination", target, "--json", "--loglevel=error"]));
  console.log(join(target, packed.filename));
} finally {
  rmSync(stage, { recursive: true, force: true });
}
