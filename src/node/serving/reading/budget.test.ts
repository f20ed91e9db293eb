import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GivenUp } from "../../../runtime/index.ts";
import { deflatedTable, memoryDatabase, openLmdb, pastTables, StateStore } from "../../../store/index.ts";
import { toUtf8, uint64ToBytes } from "../../../util/index.ts";
import { Budget, tablesWithin } from "./budget.ts";

function clocked(limits: { ms: number; bytes: number }) {
  const clock = { now: 0 };
  return { clock, budget: new Budget(limits, () => clock.now) };
}

describe("a budget", () => {
  it("counts the time of its own work, and none of that in which it waits", () => {
    const { clock, budget } = clocked({ ms: 10, bytes: 1_000 });
    for (let i = 0; i < 3; i++) {
      budget.run(() => {
        clock.now += 3;
        budget.checkTime();
      });
      clock.now += 1_000;
    }
    expect(budget.usedMs).toBe(9);
    const over = () =>
      budget.run(() => {
        clock.now += 2;
        budget.checkTime();
      });
    expect(over).toThrow(GivenUp);
    expect(over).toThrow("it takes more than 10 ms");
  });

  it("counts work within work once, and that of one that failed", () => {
    const { clock, budget } = clocked({ ms: 10, bytes: 1_000 });
    const fail = () =>
      budget.run(() =>
        budget.run(() => {
          clock.now += 4;
          throw new Error("failed");
        }),
      );
    expect(fail).toThrow("failed");
    expect(budget.usedMs).toBe(4);
  });

  it("ends a walk over a large state of an older height as it does over the last one", () => {
    const database = memoryDatabase();
    const state = StateStore.open(database, ["bank"]);
    for (const value of ["1", "2", "3"]) {
      const branch = state.branch();
      for (let n = 0; n < 5_000; n++) branch.store("bank").set(uint64ToBytes(BigInt(n + 1)), toUtf8(value));
      state.commit(state.height + 1n, state.workingHash(branch));
    }
    const walk = (budget: Budget, height: bigint) =>
      budget.run(() => [...(pastTables(tablesWithin(database, budget), height)?.store("bank").iterate() ?? [])].length);
    const reverse = (budget: Budget) =>
      budget.run(() => [
        ...(pastTables(tablesWithin(database, budget), 1n)?.store("bank").iterate({ reverse: true }) ?? []),
      ]);
    for (const height of [1n, 2n]) {
      expect(walk(new Budget({ ms: 60_000, bytes: 4_000_000 }), height)).toBe(5_001);
      expect(() => walk(new Budget({ ms: 60_000, bytes: 20_000 }), height)).toThrow(GivenUp);
    }
    expect(() => reverse(new Budget({ ms: 60_000, bytes: 20_000 }))).toThrow(GivenUp);
  });

  it("counts the bytes of a compressed value that its reader gets", () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-budget-"));
    const database = openLmdb(directory);
    try {
      const table = deflatedTable("a");
      database.write([{ table, key: Uint8Array.of(1), value: new Uint8Array(100_000) }]);
      const walk = (bytes: number) => {
        const budget = new Budget({ ms: 60_000, bytes });
        return budget.run(() => [...tablesWithin(database, budget).table(table).iterate()].length);
      };
      expect(walk(100_001)).toBe(1);
      expect(() => walk(100_000)).toThrow("it reads more than 100000 bytes");
    } finally {
      database.close();
      rmSync(directory, { recursive: true });
    }
  });

  it("ends reading that takes too many bytes or too long, however it is read", () => {
    const database = memoryDatabase();
    const rows = Array.from({ length: 200 }, (_, i) => ({
      table: "a",
      key: Uint8Array.of(i),
      value: new Uint8Array(9),
    }));
    database.write(rows);
    const walk = (budget: Budget) => budget.run(() => [...tablesWithin(database, budget).table("a").iterate()].length);
    expect(walk(new Budget({ ms: 60_000, bytes: 2_000 }))).toBe(200);
    expect(() => walk(new Budget({ ms: 60_000, bytes: 1_999 }))).toThrow("it reads more than 1999 bytes");
    const { clock, budget } = clocked({ ms: 10, bytes: 60_000 });
    const table = tablesWithin(database, budget).table("a");
    const get = () =>
      budget.run(() => {
        for (let i = 0; i < 200; i++) {
          clock.now += 1;
          table.has(Uint8Array.of(i));
        }
      });
    expect(get).toThrow(GivenUp);
    expect(clock.now).toBeLessThan(40);
  });
});
