// Builds earlier commits of this repository, once each, and prints the paths of their programs with commas between:
// node tools/earlier.mjs <commit>...
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Builds a commit in a folder of the cache; returns the path of its program. */
export function buildEarlier(commit) {
  const hash = execFileSync("git", ["rev-parse", `${commit}^{commit}`], { cwd: root, encoding: "utf8" }).trim();
  const folder = join(root, ".cache", "earlier", hash);
  const program = join(folder, "dist", "svc.cjs");
  if (existsSync(program)) return program;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync("git", ["archive", hash], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  for (const args of [
    ["ci", "--loglevel=error"],
    ["run", "build"],
  ]) {
    execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  }
  return program;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(process.argv.slice(2).map(buildEarlier).join(","));
