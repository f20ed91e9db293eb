/** Websocket streams of a provider's gateway: followed logs and events, and shells. */

export { followLogs } from "./follow.ts";
export { type ShellOutput, type ShellResult, ShellSession } from "./shell.ts";
export { Feed, openSocket } from "./socket.ts";
