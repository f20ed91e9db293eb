export * from "./addresses.ts";
export * from "./capacity.ts";
export * from "./check.ts";
export * from "./driver.ts";
export { clusterErrors, isLasting } from "./errors.ts";
export * from "./kind.ts";
export * from "./names.ts";
export * from "./ports.ts";
export * from "./routing.ts";
