import { describe, expect, test } from "vitest";
import { type DeployFixture, openDeployFixture, type ProviderPlan } from "../../../test/cli/deploy-fixture.ts";
import { sampled } from "../../../test/support/runs.ts";

/** Kills at every call take minutes. */
const NTH = 10;

let fixture: DeployFixture;

function open(plans?: Readonly<Record<string, ProviderPlan>>): DeployFixture {
  fixture = openDeployFixture(plans);
  return fixture;
}

function numbersTo(last: number): number[] {
  return Array.from({ length: last }, (_, i) => i + 1);
}

/** A deployment without bids, whose file was changed afterwards. */
async function openChanged(): Promise<void> {
  open({ p1: { price: "10" } });
  await expect(fixture.deploy({ timeoutMs: 10_000 })).rejects.toThrow("nobody has bid");
  fixture.write({ price: 2000 });
  fixture.plans.set("p1", { price: "10", delay: 1 });
  fixture.calls = 0;
}

describe("kill -9 at every call", () => {
  /** Number of calls in an uninterrupted run. */
  async function countCalls(): Promise<number> {
    open();
    await fixture.deploy();
    return fixture.calls;
  }

  for (const when of ["before", "after"] as const) {
    test(`${when} its effect: one deployment, one lease, one manifest at the end`, async () => {
      const calls = await countCalls();
      expect(calls).toBeGreaterThan(20);
      for (const call of sampled(numbersTo(calls), NTH)) {
        open();
        fixture.kill = { call, when };
        expect(await fixture.deployUntilKilled(), `call ${call}`).toBe("killed");
        fixture.kill = undefined;
        const { leases } = await fixture.deploy();
        expect(await fixture.all(), `call ${call}`).toHaveLength(1);
        expect(leases).toHaveLength(1);
        expect(
          [...fixture.manifests.values()].map((sent) => sent.length),
          `call ${call}`,
        ).toEqual([1]);
        fixture.close();
      }
    });
  }

  test("after the file was changed: the old order is closed, the new one runs", async () => {
    await openChanged();
    await fixture.deploy();
    const { calls } = fixture;
    for (const call of sampled(numbersTo(calls), NTH)) {
      await openChanged();
      fixture.kill = { call, when: call % 2 === 0 ? "before" : "after" };
      expect(await fixture.deployUntilKilled(), `call ${call}`).toBe("killed");
      fixture.kill = undefined;
      const { dseq } = await fixture.deploy();
      expect(await fixture.active(), `call ${call}`).toEqual([BigInt(dseq)]);
      expect(await fixture.all(), `call ${call}`).toHaveLength(2);
      fixture.close();
    }
  });
});
