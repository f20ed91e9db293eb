import { readFileSync, statfsSync } from "node:fs";

const FOLDER = "/dev/shm";
/** The space that the tests leave free, whatever they write at one time. */
const LEAST_FREE_BYTES = 4 * 2 ** 30;

/** The folder of a machine whose files are in memory, if it has room and programs may be started from it. */
export function memoryFolder(): string | undefined {
  try {
    if (!isOfMemory(readFileSync("/proc/mounts", "utf8"))) return undefined;
    const { bavail, bsize } = statfsSync(FOLDER);
    return bavail * bsize >= LEAST_FREE_BYTES ? FOLDER : undefined;
  } catch {
    return undefined;
  }
}

function isOfMemory(mounts: string): boolean {
  const mount = mounts.split("\n").findLast((line) => line.split(" ")[1] === FOLDER);
  const [, , kind, options = ""] = mount?.split(" ") ?? [];
  return kind === "tmpfs" && options.split(",").includes("rw") && !options.split(",").includes("noexec");
}
