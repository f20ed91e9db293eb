export { type ConsolePage, ConsolePages, consoleFiles, nodeSession } from "./console.ts";
