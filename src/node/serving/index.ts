export { openServers, type Servers, type ServingParts } from "./open.ts";
