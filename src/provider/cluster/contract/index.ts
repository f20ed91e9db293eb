export * from "./capacity.ts";
export * from "./driver.ts";
export { clusterErrors } from "./errors.ts";
export { externalPort, isHttpExpose, isNodePortExpose, isPersistent, isRam } from "./expose.ts";
export { type GpuWish, gpuName, isWantedGpu, parseGpuWish } from "./gpu.ts";
export * from "./kind.ts";
export { leaseNamespace, replicaName } from "./names.ts";
export * from "./ports.ts";
export * from "./routing.ts";
