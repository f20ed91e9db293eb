import { existsSync } from "node:fs";
import { CommandError, run } from "./command.ts";

/** Size of an empty folder. */
const FOLDER_BLOCK = 4096n;

/**
 * Bytes of disk below folders that tenants write to; a folder that is not on this machine counts for nothing. The tool
 * follows no links and goes on where files vanish under it, so that a tenant cannot hide what it wrote.
 */
export async function folderBytes(folders: readonly string[]): Promise<bigint> {
  const here = folders.filter((folder) => existsSync(folder));
  if (here.length === 0) return 0n;
  const text = await run("du", ["-s", "-x", "-B", "1", "--", ...here]).catch((error: unknown) => {
    if (error instanceof CommandError && error.code === 1) return error.output;
    throw error;
  });
  const sizes = [...text.matchAll(/^(\d+)\t/gm)].map(([, digits = "0"]) => BigInt(digits));
  return sizes.reduce((sum, size) => sum + (size > FOLDER_BLOCK ? size - FOLDER_BLOCK : 0n), 0n);
}
