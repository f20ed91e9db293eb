export * from "./handshakes.ts";
/** What servers have in common. */
export * from "./listen.ts";
export * from "./rate.ts";
