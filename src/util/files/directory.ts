import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorText } from "../errors.ts";

const PRIVATE = 0o700;

/**
 * Makes a directory that only its owner can use, with those above it; an existing one stays as it is. Node.js's own
 * function tries forever on a file system in which nothing can be made (`/proc`). Throws an error of the system with
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
