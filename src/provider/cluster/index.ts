export { MIN_MEMORY } from "./check-spec.ts";
export * from "./driver.ts";
export * from "./engine/index.ts";
export { clusterErrors } from "./errors.ts";
export { externalPort, isHttpExpose, isNodePortExpose } from "./expose.ts";
export { type LogFields, type Logger, silentLogger } from "./logger.ts";
export { leaseNamespace, replicaName } from "./names.ts";
