import type { COUNTERS, CounterName, DurationName, LabelsOf, Moment } from "./table.ts";

/** Where the parts of the provider count what they do. */
export interface Meter {
  count<Name extends CounterName>(name: Name, labels: LabelsOf<(typeof COUNTERS)[Name]>): void;
  /** Seconds that something took. */
  took(name: DurationName, seconds: number): void;
  /** Something has happened now. */
  mark(moment: Moment): void;
}

/** For a provider without a metrics server. */
export const NO_METER: Meter = { count: () => {}, took: () => {}, mark: () => {} };

/** Measures how long a promise takes to settle, whichever way. */
export async function timed<T>(meter: Meter, name: DurationName, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    meter.took(name, (performance.now() - start) / 1000);
  }
}
