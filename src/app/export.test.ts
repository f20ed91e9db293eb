import { expect, it } from "vitest";
import { sized } from "../../test/support/runs.ts";
import { simulateWhole } from "../../test/support/simulation/whole.ts";
import { memoryDatabase } from "../store/index.ts";
import { toHex } from "../util/index.ts";
import { createApp } from "./app.ts";

const SEED = Number(process.env.SEED ?? 4021);
const SEEDS = Array.from({ length: sized(1, 4) }, (_, i) => SEED + i);

it.each(SEEDS)("exports an older height as it was when it was the last one, seed %d", (seed) => {
  // A longer run begins with the same blocks as a shorter one.
  const { chain: then } = simulateWhole({ seed, operations: 600 });
  const { chain: now } = simulateWhole({ seed, operations: 1_500 });
  const { height } = then.app.state;
  expect(now.app.state.height).toBeGreaterThan(height);
  const exported = now.app.exportAt(height);
  const [appState, voters] = [then.app.exportGenesis(), then.app.exportAt(height)?.voters];
  expect(exported).toEqual({ consensusParams: then.app.consensusParams, appState, voters });
  expect(voters?.length).toBeGreaterThan(0);
  expect(now.app.exportGenesis()).not.toEqual(exported?.appState);
  if (exported === undefined) return;
  const again = createApp({ database: memoryDatabase(), checkInvariants: true });
  const place = { chainId: "again-1", time: then.time, initialHeight: height + 1n, validators: [] };
  const { appHash } = again.initChain({ ...place, ...exported });
  expect(toHex(appHash)).toBe(toHex(then.hashOfModules()));
  expect(now.app.exportAt(0n)).toBeUndefined();
  expect(now.app.exportAt(now.app.state.height + 1n)).toBeUndefined();
});
