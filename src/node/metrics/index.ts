export { type MetricsOptions, MetricsServer } from "./server.ts";
