/** Random runs of a property: a few among the unit tests, ten times as many among the simulations. */
export function runs(count: number): number {
  return count * Number(process.env.SVC_TEST_RUNS ?? "1");
}
