/** Parts that all servers share. */
export * from "./limits.ts";
export * from "./lines.ts";
export * from "./linger.ts";
export * from "./listen.ts";
export * from "./malformed.ts";
export * from "./portions.ts";
export * from "./proxies.ts";
export * from "./releases.ts";
export * from "./static-files.ts";
export * from "./upgrade.ts";
