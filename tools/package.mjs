// Makes the npm package: node tools/package.mjs [folder, dist by default]. Command and library are built, put beside one
// another in a folder of their own, and packed; the path of the tarball is printed. Nothing is published: the package is
// private.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = resolve(process.argv[2] ?? join(root, "dist"));
const PAGES = ["README.md", "LICENSE", "CHANGELOG.md"];
/** Fields that an installation does not need. */
const OWN_FIELDS = ["scripts", "devDependencies", "overrides"];

function run(command, args) {
  const { status, stdout, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", "pipe", 2] });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(1);
  return stdout.toString();
}

const stage = mkdtempSync(join(tmpdir(), "svc-package-"));
try {
  run(process.execPath, [join(root, "tools", "build.mjs")]);
  run(process.execPath, [join(root, "tools", "library.mjs"), join(stage, "dist", "lib")]);
  const command = readFileSync(join(root, "dist", ".built"), "utf8")
    .trim()
    .split("\n");
  for (const name of command) cpSync(join(root, "dist", name), join(stage, "dist", name));
  cpSync(join(root, "dist", "console"), join(stage, "dist", "console"), { recursive: true });
  chmodSync(join(stage, "dist", "svc.cjs"), 0o755);
  for (const name of PAGES) cpSync(join(root, name), join(stage, name));
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const kept = Object.entries(manifest).filter(([name]) => !OWN_FIELDS.includes(name));
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
  mkdirSync(target, { recursive: true });
  const [packed] = JSON.parse(run("npm", ["pack", stage, "--pack-destination", target, "--json", "--loglevel=error"]));
  console.log(join(target, packed.filename));
} finally {
  rmSync(stage, { recursive: true, force: true });
}
