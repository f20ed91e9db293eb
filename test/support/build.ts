import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** The checkout. Benchmarks run this code from a bundle below it. */
export const ROOT = checkoutAbove(import.meta.dirname);

/** The built command of a checkout. */
export const MAIN = join(ROOT, "dist", "svc.cjs");

let built: Promise<void> | undefined;

/**
 * Builds the command line from the current sources, once in each test file; `SVC_TEST_BUILT=1` uses the existing build.
 */
export function buildOnce(): Promise<void> {
  built ??= process.env.SVC_TEST_BUILT === "1" && existsSync(MAIN) ? Promise.resolve() : build();
  return built;
}

async function build(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(ROOT, "tools", "build.mjs")]);
}

function checkoutAbove(folder: string): string {
  if (existsSync(join(folder, "tools", "build.mjs"))) return folder;
  const above = dirname(folder);
  if (above === folder) throw new Error("this code runs inside a checkout only");
  return checkoutAbove(above);
}
