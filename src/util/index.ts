export * from "./bytes.ts";
export * from "./coin.ts";
export * from "./decimal.ts";
export * from "./directory.ts";
export * from "./errors.ts";
export * from "./listen.ts";
export * from "./log.ts";
export * from "./names.ts";
