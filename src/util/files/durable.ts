import {
  closeSync,
  existsSync,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Readable and writable only by its owner. */
const PRIVATE = 0o600;

/**
 * Replaces a file as a whole, or makes it; on disk when it returns. After a crash, or on a full disk, either the old
 * text or the new one is there. An empty folder in its place goes. Throws errors of the system, with nothing left behind.
 */
export function replaceFile(path: string, text: string, mode = PRIVATE): void {
  const temporary = writeTemporary(path, text, mode);
  moveInto(temporary, path);
  syncDirectory(dirname(path));
}

/**
 * Writes over a private file that has as many bytes as the text; on disk when it returns. False if there is no such file.
 * Cheaper than a new file, and as safe for a text that fits a sector of a disk (512 bytes).
 */
export function overwriteFile(path: string, text: string): boolean {
  const bytes = Buffer.from(text);
  if (!existsSync(path)) return false;
  const file = openSync(path, "r+");
  try {
    const { size, mode } = fstatSync(file);
    if (size !== bytes.length || (mode & 0o777) !== PRIVATE) return false;
    writeSync(file, bytes, 0, bytes.length, 0);
    fdatasyncSync(file);
    return true;
  } finally {
    closeSync(file);
  }
}

/** Like `replaceFile`, but never replaces a file: false when there is one, even if it appeared just now. */
export function createFile(path: string, text: string): boolean {
  const temporary = writeTemporary(path, text, PRIVATE);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    if (!hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) throw error;
    // File systems without hard links cannot do both in one step.
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncDirectory(dirname(path));
  return true;
}

/** Makes the names in a directory durable. */
export function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/**
 * The text in a file beside its place. The name is this process's own: a leftover of a crash does not stay forever.
 */
function writeTemporary(path: string, text: string, mode: number): string {
  const temporary = join(dirname(path), `.tmp-${process.pid}`);
  rmSync(temporary, { force: true });
  const file = openSync(temporary, "wx", mode);
  try {
    fchmodSync(file, mode);
    // Unlike `writeSync` it continues after a partial write, and fails if the rest cannot be written.
    writeFileSync(file, text);
    fsyncSync(file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return temporary;
}

/** Takes an empty folder away, which a damaged disk may leave in the place of a file. Tells whether there was one. */
export function clearPlace(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  rmdirSync(path);
  return true;
}

function moveInto(temporary: string, path: string): void {
  try {
    clearPlace(path);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
