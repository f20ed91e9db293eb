/** Files and folders whose contents must not be lost, or must not be read by others. */
export * from "./directory.ts";
export * from "./durable.ts";
export * from "./read.ts";
