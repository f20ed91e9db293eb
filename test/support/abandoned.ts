import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning } from "../../src/testing/ports.ts";

const OWNER = "owner.pid";

/** A temporary folder that names this process as its owner: when it was killed, the next test run finds and removes it. */
export function ownedFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  writeFileSync(join(folder, OWNER), `${process.pid}`);
  return folder;
}

/** Folders of that prefix whose owner runs no more. */
export function abandonedFolders(prefix: string): string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(tmpdir(), name))
    .filter((folder) => existsSync(join(folder, OWNER)) && !isRunning(readFileSync(join(folder, OWNER), "utf8")));
}

/** Removes a folder with everything that is mounted below it. */
export function removeFolder(folder: string): void {
  for (const mount of mountsBelow(folder)) execFileSync("umount", ["--lazy", mount]);
  rmSync(folder, { recursive: true, force: true });
}

/** Innermost first. */
function mountsBelow(folder: string): string[] {
  if (!existsSync("/proc/self/mounts")) return [];
  const points = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .flatMap((line) => line.split(" ")[1] ?? []);
  return points.filter((point) => point.startsWith(`${folder}/`)).reverse();
}
