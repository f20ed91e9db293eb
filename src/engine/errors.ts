import { defineErrors } from "../util/index.ts";

/** Errors of the engine that runs beside the node. */
export const engineErrors = defineErrors("engine", {
  noProgram: [
    8,
    "svc runs CometBFT 0.38.22 or a later release of its 0.38 line",
    "run svc engine install, or name a program with --cometbft",
  ],
  noGo: [
    9,
    "building CometBFT needs Go 1.22.11 or newer",
    "install Go from https://go.dev/dl or the package golang-go, or name it with --go",
  ],
  notBuilt: [10, "CometBFT could not be built", "read Go's messages above; the build needs the Go module proxy"],
});
