/** What a provider's gateway sends over websockets: logs and events that are followed, and shells. */
export { Feed } from "./feed.ts";
export { followLogs } from "./follow.ts";
export { type ShellOutput, type ShellResult, ShellSession } from "./shell.ts";
export { openSocket } from "./socket.ts";
