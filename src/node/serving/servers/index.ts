export type { Addresses } from "./list.ts";
export { nodeInfoOf, openServers, type Servers, type ServingDesk } from "./open.ts";
