export * from "./contract/index.ts";
export { clusterKind, hostCluster } from "./kinds.ts";
export { EventLog, streamEvents } from "./shared/index.ts";
