import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { assert } from "../../util/index.ts";
import type { Meter } from "./meter.ts";
import {
  COUNTERS,
  type CounterName,
  DURATIONS,
  type DurationName,
  GAUGES,
  type GaugeName,
  type LabelsOf,
  type Moment,
} from "./table.ts";

/** The value of a gauge, with a value for each of its labels. */
export interface Reading {
  readonly gauge: GaugeName;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** From a price out of the scales to a script at its time limit. */
const BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 5, 10, 30];

/** Gauges of the process that are named like counters; the same numbers stand by type in others. */
const SUMS = ["nodejs_active_resources_total", "nodejs_active_handles_total", "nodejs_active_requests_total"];

/** All metrics of one provider, and of its process. */
export class MetricRegistry implements Meter {
  readonly #registry = new Registry();
  readonly #counters: ReadonlyMap<string, Counter>;
  readonly #durations: ReadonlyMap<string, Histogram>;
  readonly #moments = new Map<Moment, number>();
  readonly #now: () => number;

  /** `now`: milliseconds since 1970. */
  constructor(now: () => number = Date.now) {
    const registers = [this.#registry];
    this.#now = now;
    this.#counters = mapOf(COUNTERS, (row) => new Counter({ ...shapeOf(row), registers }));
    this.#durations = mapOf(DURATIONS, (row) => new Histogram({ ...shapeOf(row), buckets: BUCKETS, registers }));
    for (const [key, { labels }] of Object.entries(COUNTERS)) {
      for (const each of combinations(labels)) this.#counters.get(key)?.inc(each, 0);
    }
    collectDefaultMetrics({ register: this.#registry });
    for (const name of SUMS) this.#registry.removeSingleMetric(name);
  }

  count<Name extends CounterName>(name: Name, labels: LabelsOf<(typeof COUNTERS)[Name]>): void {
    checkLabels(COUNTERS[name].labels, labels);
    this.#counters.get(name)?.inc({ ...labels });
  }

  took(name: DurationName, seconds: number): void {
    this.#durations.get(name)?.observe(seconds);
  }

  mark(moment: Moment): void {
    this.#moments.set(moment, this.#now() / 1000);
  }

  /** The text that Prometheus reads; a gauge without a reading is left out. */
  async text(readings: readonly Reading[]): Promise<string> {
    const moments = [...this.#moments].map(([gauge, value]) => ({ gauge, value }));
    const counted = await this.#registry.metrics();
    return `${counted}\n${await gaugesText([...moments, ...readings])}`;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }
}

/** Recreated each time: a value that can no longer be read must not stay. */
function gaugesText(readings: readonly Reading[]): Promise<string> {
  const registry = new Registry();
  const gauges = new Map<GaugeName, Gauge>();
  for (const { gauge, value, labels = {} } of readings) {
    const row = GAUGES[gauge];
    checkLabels(row.labels, labels);
    const found = gauges.get(gauge) ?? new Gauge({ ...shapeOf(row), registers: [registry] });
    gauges.set(gauge, found);
    found.set({ ...labels }, value);
  }
  return registry.metrics();
}

interface Row {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

function shapeOf({ name, help, labels }: Row): Pick<Row, "name" | "help"> & { readonly labelNames: string[] } {
  return { name, help, labelNames: Object.keys(labels) };
}

function mapOf<T>(table: Readonly<Record<string, Row>>, make: (row: Row) => T): ReadonlyMap<string, T> {
  return new Map(Object.entries(table).map(([key, row]) => [key, make(row)]));
}

/** A value that is not in the table would be an unexpected series. */
function checkLabels(
  rows: Readonly<Record<string, readonly string[]>>,
  labels: Readonly<Record<string, string>>,
): void {
  const isKnown = Object.entries(rows).every(([label, values]) => values.includes(labels[label] ?? ""));
  assert(
    isKnown && Object.keys(labels).length === Object.keys(rows).length,
    "labels of a metric are those of its table",
  );
}

function combinations(labels: Readonly<Record<string, readonly string[]>>): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (all, [label, values]) => all.flatMap((each) => values.map((value) => ({ ...each, [label]: value }))),
    [{}],
  );
}
