// Other versions of Node.js: the npm package `node` holds the program of each, which is kept in .cache/.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./runner.mjs";

const DOWNLOAD_MINUTES = 5;

/** The program of a major version of Node.js; undefined where it cannot be installed. */
export function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const folder = join(root, ".cache", `node${major}`);
  const program = join(folder, "node_modules", "node", "bin", "node");
  if (!existsSync(program)) {
    const args = [
      "install",
      "--prefix",
      folder,
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      `node@${major}`,
    ];
    spawnSync("npm", args, { stdio: ["ignore", "ignore", "inherit"], timeout: DOWNLOAD_MINUTES * 60_000 });
  }
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return status === 0 && stdout.startsWith(`v${major}.`) ? program : undefined;
}
