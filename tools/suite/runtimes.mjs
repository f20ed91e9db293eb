// Other versions of Node.js: npm has a package with the program for each platform, which is kept in .cache/. (The package
// `node` installs it by a script, and this project runs none.)
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./runner.mjs";

const DOWNLOAD_MINUTES = 5;

/** The program of a major version of Node.js; undefined where it cannot be installed. */
export function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const folder = join(root, ".cache", `node${major}`);
  const name = `node-${process.platform}-${process.arch}`;
  const program = join(folder, "node_modules", name, "bin", "node");
  if (!existsSync(program)) {
    const args = [
      "install",
      "--prefix",
      folder,
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      `${name}@${major}`,
    ];
    spawnSync("npm", args, { stdio: ["ignore", "ignore", "inherit"], timeout: DOWNLOAD_MINUTES * 60_000 });
  }
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return status === 0 && stdout.startsWith(`v${major}.`) ? program : undefined;
}
