export { beginServing, type Serving } from "./begin.ts";
