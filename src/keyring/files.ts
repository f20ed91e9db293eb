import { lstatSync, rmSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { makePrivateDirectory, shellWord, syncDirectory } from "../util/index.ts";
import { keyringErrors } from "./errors.ts";

const GROUP_OR_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;

/** Creates the directory (0700) with its parents, or checks the existing one. */
export function prepareDirectory(dir: string): void {
  makePrivateDirectory(dir);
  checkDirectory(dir);
}

/** Refuses a directory in which others could exchange files. A missing one is fine. */
export function checkDirectory(dir: string): void {
  const stat = lstatOrUndefined(dir);
  if (stat === undefined) return;
  if (stat.isSymbolicLink() ? false : !stat.isDirectory()) throw keyringErrors.permissions(`${dir} is not a directory`);
  if (hasModes() && !stat.isSymbolicLink() && (stat.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw keyringErrors.permissions(`directory ${dir}`, { hint: `run: chmod 700 ${shellWord(dir)}` });
  }
}

/**
 * Refuses a secret file that group or others can read or write, that belongs to another user, or that is a link.
 * Returns false if there is no file.
 */
export function checkSecretFile(path: string): boolean {
  const stat = lstatOrUndefined(path);
  if (stat === undefined) return false;
  if (!stat.isFile()) throw keyringErrors.permissions(`${path} is not a regular file`);
  if (!hasModes()) return true;
  const uid = process.getuid?.() ?? stat.uid;
  if (stat.uid !== uid && uid !== 0) throw keyringErrors.permissions(`${path} belongs to another user`);
  if ((stat.mode & GROUP_OR_OTHERS) !== 0) {
    throw keyringErrors.permissions(`key file ${path}`, { hint: `run: chmod 600 ${shellWord(path)}` });
  }
  return true;
}

export function removeFile(path: string): void {
  rmSync(path, { force: true });
  syncDirectory(dirname(path));
}

/** Whether it is a system error, with one of the codes if some are given. */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return codes.length === 0 || codes.includes(String(error.code));
}

function lstatOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

function hasModes(): boolean {
  return process.platform !== "win32";
}
