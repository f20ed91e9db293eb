/* Set by the build. */
declare const SVC_VERSION: string;
declare const SVC_COMMIT: string;

/** `v<major>.<minor>.<patch>`; `v0.0.0` when the sources run without a build. */
export const VERSION: string = typeof SVC_VERSION === "string" ? SVC_VERSION : "v0.0.0";
/** The commit that was built; empty if unknown. */
export const COMMIT: string = typeof SVC_COMMIT === "string" ? SVC_COMMIT : "";
