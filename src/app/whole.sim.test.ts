import { describe, expect, it } from "vitest";
import { simulateWhole, wholeOperations } from "../../test/support/simulation/whole.ts";
import { toHex } from "../util/index.ts";

/** Runs with parameters of their own. A run with a given seed repeats with `WHOLE_SIM_SEED` and one run. */
const RUNS = Number(process.env.WHOLE_SIM_RUNS ?? 10);
const OPERATIONS = Number(process.env.WHOLE_SIM_OPERATIONS ?? 10_000);
const SEED = Number(process.env.WHOLE_SIM_SEED ?? 20_261);
/** From so many in all on, each kind of operation succeeds at least once. */
const ENOUGH_FOR_ALL = 50_000;

describe("everything that people do on the chain", () => {
  const outcomes = new Set<string>();

  it.each(Array.from({ length: RUNS }, (_, i) => SEED + i))(
    "never breaks an invariant, with faults, restarts and exports in between, seed %d",
    { timeout: 36_000_000 },
    (seed) => {
      console.log(`simulation of the whole chain: seed ${seed}, ${OPERATIONS} operations`);
      const run = simulateWhole({ seed, operations: OPERATIONS });
      run.chain.exportTwice();
      console.log(`${run.operations} operations in ${run.chain.height} blocks`);
      if (process.env.WHOLE_SIM_VERBOSE !== undefined) console.log(run.outcomes);
      for (const outcome of run.outcomes.keys()) outcomes.add(outcome);
    },
  );

  it.skipIf(RUNS * OPERATIONS < ENOUGH_FOR_ALL)("does each thing with success in one of these runs", () => {
    const undone = wholeOperations.filter(({ name }) => !outcomes.has(`${name}: done`)).map(({ name }) => name);
    expect(undone).toEqual([]);
  });

  it("comes to the same state from the same seed", { timeout: 600_000 }, () => {
    const hash = () => toHex(simulateWhole({ seed: SEED + 1, operations: 1_000 }).chain.app.info().lastBlockAppHash);
    expect(hash()).toBe(hash());
  });
});
