import { describe, expect, it } from "vitest";
import { fewest, givingWay, sizeOf } from "./giving-way.ts";

const patience = { alone: 60, least: 20 };
const bid = (owner: string, since: number) => ({ owner, since });

describe("bids that give way", () => {
  it("are those of the owner with the most, the oldest first, after their time", () => {
    const bids = [bid("a", 50), bid("b", 0), bid("a", 10), bid("a", 0), bid("c", 0)];
    expect(givingWay(bids, "x", { now: 60, patience, owners: 1 })).toEqual([
      bid("a", 0),
      bid("a", 10),
      bid("b", 0),
      bid("c", 0),
    ]);
    expect(givingWay(bids, "x", { now: 30, patience, owners: 1 })).toEqual([bid("a", 0), bid("a", 10)]);
    expect(givingWay(bids, "x", { now: 19, patience, owners: 1 })).toEqual([]);
  });

  it("have less time while many owners wait, but no less than some", () => {
    const bids = [bid("a", 0)];
    const late = (now: number, owners: number) => givingWay(bids, "x", { now, patience, owners }).length;
    expect([late(59, 1), late(60, 1), late(29, 2), late(30, 2), late(19, 100), late(20, 100)]).toEqual([
      0, 1, 0, 1, 0, 1,
    ]);
  });

  it("are never those of owners with as few as the one who asks", () => {
    const bids = [bid("a", 0), bid("a", 0), bid("b", 0)];
    expect(givingWay(bids, "b", { now: 1_000, patience, owners: 1 })).toHaveLength(2);
    expect(givingWay(bids, "a", { now: 1_000, patience, owners: 1 })).toEqual([]);
  });

  it("are no more than are needed", () => {
    expect(fewest([1, 2, 3, 4, 5], (some) => some.length >= 3)).toEqual([1, 2, 3]);
    expect(fewest([1], () => true)).toEqual([1]);
    expect(fewest([1, 2], () => false)).toBeUndefined();
    expect(fewest([], () => true)).toBeUndefined();
  });

  it("go to small orders first", () => {
    const row = (cpu: bigint, count: bigint) => ({ cpu, memory: 64n << 20n, count });
    expect(sizeOf([row(100n, 1n)])).toBeLessThan(sizeOf([row(100n, 2n)]));
    expect(sizeOf([])).toBe(0);
  });
});
