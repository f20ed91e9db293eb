import { writeSync } from "node:fs";

/** Set by the build. */
declare const SVC_VERSION: string;

// The build makes a CommonJS file of this one, which starts in four fifths of the time of a module. `svc version` is asked by
// scripts and completions all the time: it loads nothing else.
const argv = process.argv.slice(2);
if (argv.length === 1 && argv[0] === "version") writeSync(1, `${SVC_VERSION}\n`);
else void import("./main.ts");
