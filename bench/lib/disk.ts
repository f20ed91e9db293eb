import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Bytes on disk below a directory: a sparse file counts only its allocated blocks. */
export function sizeOnDisk(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(directory, name)))
    .reduce((total, stat) => total + (stat.isFile() ? stat.blocks * 512 : 0), 0);
}
