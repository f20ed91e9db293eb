export { chainInfo } from "./chain-info.ts";
export { type ConsolePage, ConsolePages, consoleFiles, nodeSession } from "./console.ts";
