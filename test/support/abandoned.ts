import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { execFileSync } from "./bounded.ts";
import { memoryFolder } from "./memory-folder.ts";
import { isRunning } from "./ports.ts";

const OWNER = "owner.pid";

/** How the folders of container engines begin. */
export const ENGINES = { podman: "svc-engine-", docker: "svc-docker-" };

/** A process that is ending may still write into a folder, which is then not empty for a moment. */
export const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const;

/**
 * A temporary folder that names this process as its owner: if the process is killed, the next test run finds the folder
 * and removes it.
 */
export function ownedFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  writeFileSync(join(folder, OWNER), `${process.pid}`);
  return folder;
}

/** Makes the folder of that path, owned in the same way; users without rights may enter it, as they may enter its parent. */
export function makeOwnedFolder(folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, OWNER), `${process.pid}`);
}

/**
 * Folders with that prefix whose owner no longer runs. They are this process's own from now on: test runs that begin at
 * the same time do not remove them together.
 */
export function takeAbandonedFolders(prefix: string): string[] {
  return [...new Set([tmpdir(), memoryFolder() ?? tmpdir()])]
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
    .filter((folder) => basename(folder).startsWith(prefix) && takeAbandoned(join(folder, OWNER)));
}

function takeAbandoned(owner: string): boolean {
  try {
    if (isRunning(readFileSync(owner, "utf8"))) return false;
    // Only one of several processes can rename the file.
    renameSync(owner, `${owner}.${process.pid}`);
  } catch {
    return false;
  }
  writeFileSync(owner, `${process.pid}`);
  return true;
}

/** The processes that have a folder in their command line. */
export function processesOn(folder: string): number[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((pid) => commandLine(pid).includes(folder));
}

export function killProcessesOn(folder: string): void {
  for (const pid of processesOn(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended by itself meanwhile.
    }
  }
}

/** Empty for a process that is gone. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** Removes a folder with everything that is mounted below it. */
export function removeFolder(folder: string): void {
  unmountBelow(folder);
  rmSync(folder, REMOVAL);
}

export function unmountBelow(folder: string): void {
  for (const mount of mountsBelow(folder)) unmount(folder, mount);
}

/** A program that ends may have done it meanwhile. */
function unmount(folder: string, mount: string): void {
  try {
    execFileSync("umount", ["--lazy", mount], { stdio: "pipe" });
  } catch (error) {
    if (mountsBelow(folder).includes(mount)) throw error;
  }
}

/** Innermost first. */
function mountsBelow(folder: string): string[] {
  if (!existsSync("/proc/self/mounts")) return [];
  const points = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .flatMap((line) => line.split(" ")[1] ?? []);
  return points.filter((point) => point.startsWith(`${folder}/`)).reverse();
}
