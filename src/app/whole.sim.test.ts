import { expect, it } from "vitest";
import { sized } from "../../test/support/runs.ts";
import { simulateWhole } from "../../test/support/simulation/whole.ts";
import { describeWholeRuns } from "../../test/support/simulation/whole-runs.ts";
import { toHex } from "../util/index.ts";

/** Runs with parameters of their own. A run with a given seed repeats with `WHOLE_SIM_SEED` and one run. */
const RUNS = Number(process.env.WHOLE_SIM_RUNS ?? sized(1, 10));
const OPERATIONS = Number(process.env.WHOLE_SIM_OPERATIONS ?? sized(1_500, 10_000));
const SEED = Number(process.env.WHOLE_SIM_SEED ?? 20_261);
/** Operations of the run that is done twice. */
const REPEATED = sized(400, 1_000);

describeWholeRuns({
  seeds: Array.from({ length: RUNS }, (_, i) => SEED + i),
  operations: OPERATIONS,
  record: process.env.WHOLE_SIM_RECORD,
});

it("comes to the same state from the same seed", () => {
  const hash = () => toHex(simulateWhole({ seed: SEED + 1, operations: REPEATED }).chain.app.info().lastBlockAppHash);
  expect(hash()).toBe(hash());
});
