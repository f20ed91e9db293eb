/** Rows of settings, and the parsers of their values. */
export * from "./duration.ts";
export * from "./parsers.ts";
export * from "./setting.ts";
