export * from "./handshakes.ts";
/** Parts that all servers share. */
export * from "./lines.ts";
export * from "./listen.ts";
export * from "./malformed.ts";
export * from "./networks.ts";
export * from "./proxy-header.ts";
export * from "./rate.ts";
