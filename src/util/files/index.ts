/** Files and folders that hold what must not be lost, or nobody else may read. */
export * from "./directory.ts";
export * from "./durable.ts";
export * from "./read.ts";
