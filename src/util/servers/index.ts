export * from "./fairness/index.ts";
export * from "./handshakes.ts";
/** What servers have in common. */
export * from "./lines.ts";
export * from "./listen.ts";
export * from "./malformed.ts";
export * from "./rate.ts";
export * from "./whole-requests.ts";
