import type { Logger } from "../../util/index.ts";
import { type Meter, NO_METER } from "./meter.ts";
import { type ProviderState, readings } from "./readings.ts";
import { MetricsServer } from "./server.ts";

/** The address of the metrics server, if any. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** The provider's state for the metrics server. */
export interface MetricsView {
  readonly state: () => ProviderState;
  readonly obstacles: () => readonly string[];
  readonly log: Logger;
}

export interface Metrics {
  readonly meter: Meter;
  /** The metrics server; undefined without an address. */
  readonly serve: ((view: MetricsView) => MetricsServer) | undefined;
}

/** Without an address nothing is loaded and nothing is counted. */
export async function openMetrics(address: MetricsAddress | undefined): Promise<Metrics> {
  if (address === undefined) return { meter: NO_METER, serve: undefined };
  const { MetricRegistry } = await import("./registry.ts");
  const registry = new MetricRegistry();
  const serve = ({ state, obstacles, log }: MetricsView): MetricsServer =>
    new MetricsServer({
      ...address,
      text: () => registry.text(readings(state())),
      contentType: registry.contentType,
      obstacles,
      log,
    });
  return { meter: registry, serve };
}
