import { writeSync } from "node:fs";
import { type Pack, Packs } from "./code-cache.ts";

/** Set by the build. */
declare const SVC_VERSION: string;
/** The files of the program and their contents; set by the build. */
declare const SVC_PACKS: readonly Pack[];
/** The chunk that the program begins with, and the one that a thread of a node begins with; set by the build. */
declare const SVC_MAIN: number;
declare const SVC_THREAD: number;
/** The chunk that a provider's data plane begins with; set by the build. */
declare const SVC_PLANE: number;
/** The chunk that the process which weighs layers of images begins with; set by the build. */
declare const SVC_WEIGHER: number;

/** Prints the version without loading anything; the program handles output that cannot be written. */
function printVersion(): boolean {
  try {
    writeSync(1, `${SVC_VERSION}\n`);
    return true;
  } catch {
    return false;
  }
}

function isMainThread(): boolean {
  const threads: typeof import("node:worker_threads") = require("node:worker_threads");
  return threads.isMainThread;
}

function openPacks(): Packs {
  return new Packs(SVC_PACKS, { folder: __dirname, require });
}

function runMain(): Promise<void> {
  const packs = openPacks();
  const program: Partial<typeof import("./main.ts")> = packs.load(SVC_MAIN);
  if (program.main === undefined) throw new Error(`${__dirname} does not hold the program: build again`);
  return program.main();
}

// Scripts and completions call `svc version` all the time.
const argv = process.argv.slice(2);
const isVersion = argv.length === 1 && (argv[0] === "version" || argv[0] === "--version");
// A node starts its further threads with this word.
const isThread = argv[0] === "serving-thread" && !isMainThread();
// A provider starts its data plane with this word and this variable.
const isPlane = argv[0] === "data-plane" && process.env.SVC_DATA_PLANE === "1";
// A provider starts a process that weighs layers of images in the same way.
const isWeigher = argv[0] === "layer-weigher" && process.env.SVC_LAYER_WEIGHER === "1";
if (isThread) openPacks().load(SVC_THREAD);
else if (isPlane) openPacks().load(SVC_PLANE);
else if (isWeigher) openPacks().load(SVC_WEIGHER);
else if (!isVersion || !printVersion()) void runMain();
