import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/** The checkout. */
export const ROOT = resolve(import.meta.dirname, "..", "..");

/** What a checkout runs once it is built. */
export const MAIN = join(ROOT, "dist", "main.js");

let built: Promise<void> | undefined;

/** Builds the command line from the sources as they are; once in each test file. */
export function buildOnce(): Promise<void> {
  built ??= promisify(execFile)(process.execPath, [join(ROOT, "tools", "build.mjs")]).then(() => undefined);
  return built;
}
