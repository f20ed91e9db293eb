/** Figures of the provider for Prometheus; the library is loaded only by `openMetrics`. */
export { type Meter, NO_METER, timed } from "./meter.ts";
export type { ProviderState } from "./readings.ts";
export { type Metrics, type MetricsServer, openMetrics } from "./server.ts";
