export * from "./contract/index.ts";
export { clusterKind, hostCluster } from "./kinds.ts";
export { EventLog, HostData, LocalCarrier, parseAllowedRegistry, streamEvents } from "./shared/index.ts";
