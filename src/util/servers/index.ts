export * from "./handshakes.ts";
/** What servers have in common. */
export * from "./lines.ts";
export * from "./listen.ts";
export * from "./malformed.ts";
export * from "./networks.ts";
export * from "./proxy-header.ts";
export * from "./rate.ts";
