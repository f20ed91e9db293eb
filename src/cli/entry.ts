import { writeSync } from "node:fs";
import { join } from "node:path";
import { compileCached, evaluate } from "./code-cache.ts";

/** Set by the build. */
declare const SVC_VERSION: string;
/** Name of the file of the program; set by the build. */
declare const SVC_MAIN: string;

/** Prints the version without loading anything; what cannot be written is the program's affair. */
function printVersion(): boolean {
  try {
    writeSync(1, `${SVC_VERSION}\n`);
    return true;
  } catch {
    return false;
  }
}

function runMain(): Promise<void> {
  const path = join(__dirname, SVC_MAIN);
  const program: Partial<typeof import("./main.ts")> = evaluate(compileCached(path), path);
  if (program.main === undefined) throw new Error(`${path} is not the program: build again`);
  return program.main();
}

// `svc version` is asked by scripts and completions all the time.
const argv = process.argv.slice(2);
const isVersion = argv.length === 1 && (argv[0] === "version" || argv[0] === "--version");
if (!isVersion || !printVersion()) void runMain();
