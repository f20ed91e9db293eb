/** Websocket streams of a provider's gateway: followed logs and events, and shells. */

export { type GatewaySocket, readFeed } from "./feed.ts";
export { followLogs } from "./follow.ts";
export { type ShellOutput, type ShellResult, ShellSession } from "./shell.ts";
export { openSocket } from "./socket.ts";
