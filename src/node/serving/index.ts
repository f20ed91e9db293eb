export { beginServing, type Serving } from "./begin.ts";
export type { Addresses } from "./servers/index.ts";
