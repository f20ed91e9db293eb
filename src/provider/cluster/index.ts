export * from "./contract/index.ts";
export { CLUSTER_KINDS } from "./kinds.ts";
export {
  EventLog,
  HostData,
  LocalCarrier,
  streamEvents,
} from "./shared/index.ts";
