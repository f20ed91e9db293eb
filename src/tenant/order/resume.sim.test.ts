import { describe, expect, test } from "vitest";
import { openWorld, type ProviderPlan, type World } from "../../../test/cli/deploy-world.ts";

let world: World;

function open(plans?: Readonly<Record<string, ProviderPlan>>): World {
  world = openWorld(plans);
  return world;
}

/** A deployment without bids, whose file was changed afterwards. */
async function openChanged(): Promise<void> {
  open({ p1: { price: "10" } });
  await expect(world.deploy({ timeoutMs: 10_000 })).rejects.toThrow("nobody has bid");
  world.write({ price: 2000 });
  world.plans.set("p1", { price: "10", delay: 1 });
  world.calls = 0;
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

  test("after the file was changed: the old order is closed, the new one runs", async () => {
    await openChanged();
    await world.deploy();
    const { calls } = world;
    for (let call = 1; call <= calls; call++) {
      await openChanged();
      world.kill = { call, when: call % 2 === 0 ? "before" : "after" };
      expect(await world.deployUntilKilled(), `call ${call}`).toBe("killed");
      world.kill = undefined;
      const { dseq } = await world.deploy();
      expect(await world.active(), `call ${call}`).toEqual([BigInt(dseq)]);
      expect(await world.all(), `call ${call}`).toHaveLength(2);
      world.close();
    }
  });
});
