export { type ConsolePage, consoleFiles, NodeConsole } from "./console.ts";
