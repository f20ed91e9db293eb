import { describe, expect, it } from "vitest";
import { type Ending, Rests } from "./rests.ts";

const POLICY = { first: 1_000, initial: 10_000, max: 300_000, resetAfter: 600_000 };
const NOW = Date.UTC(2030, 0, 1);

function ending(more: Partial<Ending> = {}): Ending {
  return { service: "web", count: 1, ordinal: undefined, text: "web-0: it is full", ...more };
}

describe("replicas that nodes end", () => {
  it("are replaced at once twice, and wait from the third time on, longer each time up to the most", () => {
    const rests = new Rests(POLICY);
    let now = NOW;
    const waits = Array.from({ length: 9 }, () => {
      const wait = rests.add(ending(), now);
      now += wait + 20_000;
      return wait / 1_000;
    });
    expect(waits).toEqual([0, 0, 10, 20, 40, 80, 160, 300, 300]);
  });

  it("begin a new row after a time in which none ended, however long the last one waited", () => {
    const rests = new Rests(POLICY);
    for (let time = 0; time < 3; time++) rests.add(ending(), NOW);
    expect(rests.add(ending(), NOW + 10_000 + POLICY.resetAfter - 1)).toBe(20_000);
    expect(rests.add(ending(), NOW + 30_000 + 2 * POLICY.resetAfter)).toBe(0);
  });

  it("count once where all of a service end together, and for their service only", () => {
    const rests = new Rests(POLICY);
    const waits = Array.from({ length: 9 }, () => rests.add(ending({ count: 4 }), NOW));
    expect(waits).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 10_000]);
    expect(rests.add(ending({ service: "db" }), NOW)).toBe(0);
  });

  it("are missing from the replicas of their service until they have waited", () => {
    const rests = new Rests(POLICY);
    for (let time = 0; time < 6; time++) rests.add(ending({ count: 2 }), NOW + time);
    expect([NOW, NOW + 10_004, NOW + 10_005].map((now) => rests.replicas("web", 2, now))).toEqual([0, 1, 2]);
    expect([rests.next(NOW), rests.next(NOW + 10_004), rests.next(NOW + 10_005)]).toEqual([
      NOW + 10_004,
      NOW + 10_005,
      undefined,
    ]);
    expect(rests.replicas("db", 2, NOW)).toBe(2);
  });

  it("with places wait only if no other stands behind them", () => {
    const rests = new Rests({ ...POLICY, resetAfter: 1e9 });
    for (let time = 0; time < 6; time++) rests.add(ending({ count: 3, ordinal: 0 }), NOW);
    rests.add(ending({ count: 3, ordinal: 0 }), NOW);
    expect(rests.replicas("web", 3, NOW)).toBe(3);
    rests.add(ending({ count: 3, ordinal: 2 }), NOW);
    expect(rests.replicas("web", 3, NOW)).toBe(2);
    rests.add(ending({ count: 3, ordinal: 1 }), NOW);
    expect(rests.replicas("web", 3, NOW)).toBe(0);
  });

  it("say why they wait and until when, and no longer once they are forgotten", () => {
    const rests = new Rests(POLICY);
    rests.add(ending(), NOW);
    rests.add(ending(), NOW);
    expect(rests.reason("web", NOW)).toBeUndefined();
    rests.add(ending(), NOW);
    expect(rests.reason("web", NOW)).toBe(
      "web-0: it is full; that happened 3 times in a row, so it starts again later each time, next at 2030-01-01T00:00:10Z",
    );
    rests.forget("web");
    expect([rests.reason("web", NOW), rests.replicas("web", 1, NOW)]).toEqual([undefined, 1]);
  });
});
