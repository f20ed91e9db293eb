/** Random runs of a property: a few among the unit tests, ten times as many among the simulations. */
export function runs(count: number): number {
  return count * Number(process.env.SVC_TEST_RUNS ?? "1");
}

const PART = 6;

/** Rows of a long table: every sixth among the unit tests, all among the slow ones. */
export function part<T>(rows: readonly T[]): readonly T[] {
  return process.env.SVC_TEST_WHOLE === undefined ? rows.filter((_, i) => i % PART === 0) : rows;
}
