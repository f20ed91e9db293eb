import { closeSync, constants, fchmodSync, fstatSync, lstatSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorText } from "../errors.ts";

const PRIVATE = 0o700;

/**
 * Makes a directory, and its missing parents, for the owner alone; leaves an existing one unchanged. Node.js's own
 * function tries forever on a file system that rejects new directories (`/proc`). Throws an error of the system with
 * `code` and `path`.
 */
export function makePrivateDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    const code = codeOf(error);
    const parent = dirname(path);
    if (code === "EEXIST" && isDirectory(path)) return;
    if (code !== "ENOENT" || parent === path || isDirectory(parent)) throw refusal(path, error);
    makePrivateDirectory(parent);
    makePrivateDirectory(path);
  }
}

const WRITABLE_BY_OTHERS = 0o022;
const PERMISSIONS = 0o7777;
const STICKY = 0o1000;

/**
 * Removes the write permission of group and others from a directory; returns whether they had it. Skips directories of
 * other users and those with the sticky bit, such as `/tmp`, which are shared on purpose. Throws an error of the system
 * if the permissions cannot be changed.
 */
export function keepOthersOut(path: string): boolean {
  const uid = process.getuid?.();
  const directory = uid === undefined ? undefined : openOwn(path, uid);
  if (directory === undefined) return false;
  try {
    const { mode, uid: owner } = fstatSync(directory);
    if ((mode & WRITABLE_BY_OTHERS) === 0 || (mode & STICKY) !== 0 || owner !== uid) return false;
    fchmodSync(directory, mode & PERMISSIONS & ~WRITABLE_BY_OTHERS);
    return true;
  } finally {
    closeSync(directory);
  }
}

/** Opens a directory that others may be able to write. A symbolic link of another user is not followed. */
function openOwn(path: string, uid: number): number | undefined {
  try {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
    const found = lstatSync(path);
    if (found.isSymbolicLink()) return found.uid === uid ? openSync(path, O_RDONLY | O_DIRECTORY) : undefined;
    if ((found.mode & WRITABLE_BY_OTHERS) === 0) return undefined;
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch {
    // Missing or not accessible: the code that opens the directory reports it.
    return undefined;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "nothing can be made in the directory above it",
  EEXIST: "a file is in the way",
  ENOTDIR: "a file is in the way",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
};

function refusal(path: string, cause: unknown): Error {
  const code = codeOf(cause);
  const error = new Error(`cannot make the directory ${path}: ${REASONS[code] ?? errorText(cause)}`, { cause });
  return Object.assign(error, { code, path, syscall: "mkdir" });
}
