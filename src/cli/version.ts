import type { Run } from "./spec.ts";

/** Set by the build. */
declare const SVC_VERSION: string;

/** `v<major>.<minor>.<patch>`; `v0.0.0` when the sources run without a build. */
export const VERSION: string = typeof SVC_VERSION === "string" ? SVC_VERSION : "v0.0.0";

export const version: Run = async ({ io }) => io.out(`${VERSION}\n`);
