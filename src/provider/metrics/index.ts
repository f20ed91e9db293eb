/** Figures of the provider for Prometheus; the library is loaded only by `openMetrics`. */
export { type Meter, NO_METER, timed } from "./meter.ts";
export { type Metrics, openMetrics } from "./open.ts";
export type { ProviderState } from "./readings.ts";
export type { MetricsServer } from "./server.ts";
