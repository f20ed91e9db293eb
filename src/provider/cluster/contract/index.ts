export * from "./driver.ts";
export { clusterErrors } from "./errors.ts";
export { externalPort, isHttpExpose, isNodePortExpose, isPersistent, isRam } from "./expose.ts";
export { leaseNamespace, replicaName } from "./names.ts";
