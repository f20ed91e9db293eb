import { describeWholeRuns } from "../../test/support/simulation/whole-runs.ts";

// As many as in whole.sim.test.ts, in a file of their own that runs beside it.
describeWholeRuns({ seeds: Array.from({ length: 10 }, (_, i) => 20_361 + i), operations: 10_000 });
