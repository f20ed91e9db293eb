export * from "./contract/index.ts";
export { clusterKind, hostCluster } from "./kinds.ts";
export {
  addressPool,
  EventLog,
  HostData,
  LocalCarrier,
  MAX_POOL,
  parseAllowedRegistry,
  streamEvents,
} from "./shared/index.ts";
