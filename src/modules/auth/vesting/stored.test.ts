import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IntCoin } from "../../../util/index.ts";
import { MAX_PERIOD_COINS, MAX_VESTING_DENOMS, MAX_VESTING_PERIODS, periodicSchedule } from "./schedule.ts";
import { Cells, StoredSchedule } from "./stored.ts";

/** Counts the reads of a record. */
class CountedCells extends Cells {
  reads = 0;

  override number(at: number, width: number): number {
    this.reads += 1;
    return super.number(at, width);
  }

  override integer(at: number, width: number): bigint {
    this.reads += 1;
    return super.integer(at, width);
  }

  override text(at: number, length: number): string {
    this.reads += 1;
    return super.text(at, length);
  }
}

const denomOf = (i: number) => `denom${String(i).padStart(3, "0")}`;
const all = () => true;

describe("a stored schedule", () => {
  const amounts = fc
    .uniqueArray(fc.nat({ max: 4 }), { minLength: 1 })
    .chain((places) =>
      fc.tuple(
        ...places
          .sort()
          .map((i) => fc.bigInt({ min: 1n, max: 2n ** 240n }).map((amount) => ({ denom: denomOf(i), amount }))),
      ),
    );
  const periods = fc.array(fc.record({ length: fc.bigInt({ min: 1n, max: 1000n }), amount: amounts }), {
    minLength: 1,
    maxLength: 20,
  });

  test("says what it was made of, and at each second what walking its periods says", () => {
    fc.assert(
      fc.property(periods, fc.bigInt({ min: 1n, max: 10n ** 10n }), (list, start) => {
        const schedule = periodicSchedule(start, list);
        const stored = new StoredSchedule(StoredSchedule.of(schedule).bytes);
        const { kind, original, end } = stored;
        expect({ kind, original, start: stored.start, end, periods: stored.periods }).toEqual(schedule);
        const ends = list.map((_, i) => list.slice(0, i + 1).reduce((sum, { length }) => sum + length, start));
        const times = [0n, start, ...ends.flatMap((at) => [at - 1n, at, at + 1n])];
        for (const now of times)
          expect(stored.lockedAt(now, all)).toEqual(walked(schedule.original, list, now - start));
      }),
    );
  });

  test.each(["continuous", "delayed", "permanent"] as const)("of the kind %s has no periods", (kind) => {
    const original = [{ denom: "utoken", amount: 100n }];
    const schedule = {
      kind,
      original,
      start: kind === "continuous" ? 100n : 0n,
      end: kind === "permanent" ? 0n : 200n,
    };
    const stored = StoredSchedule.of({ ...schedule, periods: [] });
    expect(stored.periods).toEqual([]);
    expect(stored.original).toEqual(original);
    const locked = [99n, 100n, 150n, 199n, 200n].map((now) => stored.lockedAt(now, all)[0]?.amount ?? 0n);
    const expected = { continuous: [100n, 100n, 50n, 1n, 0n], delayed: [100n, 100n, 100n, 100n, 0n] };
    expect(locked).toEqual(kind === "permanent" ? [100n, 100n, 100n, 100n, 100n] : expected[kind]);
  });

  test("holds the largest amounts and times that there are", () => {
    const original = [{ denom: "d".repeat(128), amount: 2n ** 256n - 1n }];
    const schedule = { kind: "delayed" as const, original, start: 0n, end: 253_402_300_799n, periods: [] };
    const stored = StoredSchedule.of(schedule);
    expect([stored.original, stored.end]).toEqual([original, schedule.end]);
  });

  test.each([
    ["many denominations", MAX_VESTING_PERIODS, MAX_VESTING_DENOMS, 600],
    ["two denominations", MAX_VESTING_PERIODS, 2, 60],
  ])("of the most periods and %s is asked about a fee with few reads", (_, count, denoms, most) => {
    const perPeriod = MAX_PERIOD_COINS / count;
    const coinsOf = (i: number): IntCoin[] =>
      Array.from({ length: perPeriod }, (_, j) => ({ denom: denomOf((i * perPeriod + j) % denoms), amount: 5n }));
    const schedule = periodicSchedule(
      100n,
      Array.from({ length: count }, (_, i) => ({ length: 10n, amount: coinsOf(i) })),
    );
    const { bytes } = StoredSchedule.of(schedule);
    for (const now of [100n, 101n, 100n + 5n * BigInt(count), 99n + 10n * BigInt(count), 100n + 10n * BigInt(count)]) {
      const cells = new CountedCells(bytes);
      new StoredSchedule(bytes, cells).lockedAt(now, (denom) => denom === denomOf(denoms - 1));
      expect(cells.reads).toBeLessThan(most);
    }
  });
});

/** Locked coins this many seconds after the start, computed period by period. */
function walked(
  original: readonly IntCoin[],
  periods: readonly { length: bigint; amount: readonly IntCoin[] }[],
  passed: bigint,
) {
  const free = new Map<string, bigint>();
  let end = 0n;
  for (const { length, amount } of periods) {
    end += length;
    if (end <= passed) for (const coin of amount) free.set(coin.denom, (free.get(coin.denom) ?? 0n) + coin.amount);
  }
  return original
    .map(({ denom, amount }) => ({ denom, amount: amount - (free.get(denom) ?? 0n) }))
    .filter(({ amount }) => amount > 0n);
}
