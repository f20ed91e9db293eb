/** Parts that all servers share. */
export * from "./lines.ts";
export * from "./listen.ts";
export * from "./malformed.ts";
export * from "./proxies.ts";
export * from "./rate.ts";
export * from "./shares.ts";
