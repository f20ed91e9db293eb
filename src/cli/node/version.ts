import type { Run } from "../command/spec.ts";

/* Set by the build. */
declare const SVC_VERSION: string;
declare const SVC_COMMIT: string;

/** `v<major>.<minor>.<patch>`; `v0.0.0` when the sources run without a build. */
export const VERSION: string = typeof SVC_VERSION === "string" ? SVC_VERSION : "v0.0.0";
/** The commit that was built; empty if unknown. */
const COMMIT: string = typeof SVC_COMMIT === "string" ? SVC_COMMIT : "";

/** `version`; with `--long` also the build and the runtime, with `--check` the latest version of the network. */
export const version: Run = async (input) => {
  const { flags, io } = input;
  if (flags.bool("check")) return (await import("../self/self.ts")).checkVersion(input);
  if (!flags.bool("long")) {
    io.out(`${VERSION}\n`);
    return;
  }
  const { printResult } = await import("../terminal/output.ts");
  const told = { name: "svc", server_name: "svc", version: VERSION, commit: COMMIT, node: process.version };
  printResult(told, flags.text("output") === "json" ? "json" : "text", io);
};
