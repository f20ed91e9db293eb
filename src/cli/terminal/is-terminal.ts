import { fstatSync, statSync } from "node:fs";
import { devNull } from "node:os";

/**
 * Whether a descriptor is a terminal. The module that checks this loads network modules, which takes a tenth of a short
 * command's time, so it is used only for devices other than the null device.
 */
export function isTerminal(descriptor: number): boolean {
  try {
    const { mode, rdev } = fstatSync(descriptor);
    if ((mode & S_IFMT) !== S_IFCHR || rdev === statSync(devNull).rdev) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

/** Type bits of a file's mode, and the value for a character device. */
const S_IFMT = 0o170000;
const S_IFCHR = 0o020000;
