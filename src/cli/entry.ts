import { writeSync } from "node:fs";

/** Set by the build. */
declare const SVC_VERSION: string;

/** Prints the version without loading anything; what cannot be written is the program's affair. */
function printVersion(): boolean {
  try {
    writeSync(1, `${SVC_VERSION}\n`);
    return true;
  } catch {
    return false;
  }
}

// The build makes a CommonJS file of this one, which starts in four fifths of the time of a module. `svc version` is asked by
// scripts and completions all the time.
const argv = process.argv.slice(2);
const isVersion = argv.length === 1 && argv[0] === "version";
if (!isVersion || !printVersion()) void import("./main.ts");
