import { describe, expect, test } from "vitest";
import { openWorld, type ProviderPlan, type World } from "../../../test/cli/deploy-world.ts";

let world: World;

function open(plans?: Readonly<Record<string, ProviderPlan>>): World {
  world = openWorld(plans);
  return world;
}

describe("kill -9 at every call", () => {
  /** Calls of a run that nobody kills. */
  async function countCalls(): Promise<number> {
    open();
    await world.deploy();
    return world.calls;
  }

  for (const when of ["before", "after"] as const) {
    test(`${when} its effect: one deployment, one lease, one manifest at the end`, async () => {
      const calls = await countCalls();
      expect(calls).toBeGreaterThan(20);
      for (let call = 1; call <= calls; call++) {
        open();
        world.kill = { call, when };
        expect(await world.deployUntilKilled(), `call ${call}`).toBe("killed");
        world.kill = undefined;
        const { leases } = await world.deploy();
        expect(await world.all(), `call ${call}`).toHaveLength(1);
        expect(leases).toHaveLength(1);
        expect(
          [...world.manifests.values()].map((sent) => sent.length),
          `call ${call}`,
        ).toEqual([1]);
        world.close();
      }
    });
  }
});
