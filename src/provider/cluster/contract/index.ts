export * from "./driver.ts";
export { clusterErrors } from "./errors.ts";
export { externalPort, isHttpExpose, isNodePortExpose, isPersistent, isRam } from "./expose.ts";
export { type LogFields, type Logger, silentLogger } from "./logger.ts";
export { leaseNamespace, replicaName } from "./names.ts";
