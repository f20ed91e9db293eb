import { randomBytes } from "node:crypto";
import { type FileHandle, link, lstat, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makePrivateDirectory } from "../util/index.ts";
import { keyringErrors } from "./errors.ts";

const GROUP_OR_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;
const FILE_MODE = 0o600;

/** Creates the directory (0700) with its parents, or checks the one that is there. */
export async function prepareDirectory(dir: string): Promise<void> {
  makePrivateDirectory(dir);
  await checkDirectory(dir);
}

/** Refuses a directory in which others could exchange files. A missing one is fine. */
export async function checkDirectory(dir: string): Promise<void> {
  const stat = await lstatOrUndefined(dir);
  if (stat === undefined) return;
  if (stat.isSymbolicLink() ? false : !stat.isDirectory()) throw keyringErrors.permissions(`${dir} is no directory`);
  if (hasModes() && !stat.isSymbolicLink() && (stat.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw keyringErrors.permissions(`directory ${dir}`, { hint: `run: chmod 700 ${dir}` });
  }
}

/**
 * Refuses a secret file that is readable or writable by group or others, belongs to somebody else or is a link.
 * Gives false where there is no file.
 */
export async function checkSecretFile(path: string): Promise<boolean> {
  const stat = await lstatOrUndefined(path);
  if (stat === undefined) return false;
  if (!stat.isFile()) throw keyringErrors.permissions(`${path} is no regular file`);
  if (!hasModes()) return true;
  const uid = process.getuid?.() ?? stat.uid;
  if (stat.uid !== uid && uid !== 0) throw keyringErrors.permissions(`${path} belongs to another user`);
  if ((stat.mode & GROUP_OR_OTHERS) !== 0) {
    throw keyringErrors.permissions(`key file ${path}`, { hint: `run: chmod 600 ${path}` });
  }
  return true;
}

/** Writes a file in one step: readers see the old content or the new, whatever happens in between. */
export async function writeSecretFile(path: string, content: string): Promise<void> {
  const temporary = await writeTemporary(path, content);
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** Like `writeSecretFile`, but never replaces a file: false when there is one, even if it appeared just now. */
export async function createSecretFile(path: string, content: string): Promise<boolean> {
  const temporary = await writeTemporary(path, content);
  try {
    await link(temporary, path);
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    if (!isErrno(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) throw error;
    // File systems without hard links cannot do both in one step.
    if ((await lstatOrUndefined(path)) !== undefined) return false;
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncDirectory(dirname(path));
  return true;
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncDirectory(dirname(path));
}

export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

async function writeTemporary(path: string, content: string): Promise<string> {
  const temporary = join(dirname(path), `.tmp-${randomBytes(8).toString("hex")}`);
  let file: FileHandle | undefined;
  try {
    file = await open(temporary, "wx", FILE_MODE);
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await file?.close();
  }
  return temporary;
}

async function syncDirectory(dir: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function lstatOrUndefined(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

function hasModes(): boolean {
  return process.platform !== "win32";
}
