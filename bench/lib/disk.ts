import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Bytes on disk below a directory: a file with holes counts what it has. */
export function sizeOnDisk(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(directory, name)))
    .reduce((total, stat) => total + (stat.isFile() ? stat.blocks * 512 : 0), 0);
}
