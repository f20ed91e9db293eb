export * from "./contract/index.ts";
export * from "./docker/index.ts";
export { EventLog, MIN_MEMORY, streamEvents } from "./shared/index.ts";
