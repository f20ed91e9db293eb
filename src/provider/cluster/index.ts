export * from "./contract/index.ts";
export { CLUSTER_KINDS } from "./kinds.ts";
export {
  EventLog,
  HostData,
  LocalCarrier,
  streamEvents,
  tellNotKept,
} from "./shared/index.ts";
