import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromUtf8, toUtf8 } from "../../util/index.ts";
import { verifyStoreProof } from "../../wire/index.ts";
import { memoryDatabase, type Pruning, pastTables, type StateOptions, StateStore } from "../index.ts";
import { HISTORY_TABLE } from "./epochs.ts";
import { entryKey, readEntryKey, tablePrefix } from "./keys.ts";

function seeded(numRuns: number): { seed: number; numRuns: number } {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  return { seed, numRuns };
}

type Block = ReadonlyMap<string, string | null>;

function commit(state: StateStore, block: Block): void {
  const branch = state.branch();
  for (const [key, value] of block) {
    if (value === null) branch.store("bank").delete(toUtf8(key));
    else branch.store("bank").set(toUtf8(key), toUtf8(value));
  }
  const kept = [{ table: "app", key: toUtf8("last"), value: toUtf8(`${state.height + 1n}`) }];
  state.commit(state.height + 1n, state.workingHash(branch), { kept });
}

function open(options: StateOptions = {}, database = memoryDatabase()) {
  return { database, state: StateStore.open(database, ["auth", "bank"], options) };
}

const keep = (keepRecent: bigint, interval = 1n): Pruning => ({ keepRecent, interval });

const name = fc.oneof(
  fc.nat({ max: 12 }).map((n) => `k${n}`),
  fc.array(fc.constantFrom("\0", "\u0001", "a"), { minLength: 1, maxLength: 6 }).map((parts) => parts.join("")),
);
const block = fc
  .array(fc.tuple(name, fc.option(fc.constantFrom("1", "2", "3"), { nil: null })), { maxLength: 12 })
  .map((changes) => new Map(changes));

describe("keys of old values", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
    fc.array(fc.constantFrom(0, 0, 0, 1, 255), { minLength: 1, maxLength: 300 }).map((all) => Uint8Array.from(all)),
  );
  const prefix = tablePrefix(7, "state/bank");

  test("are read back, and stand in the order of the keys and then of the blocks", () => {
    fc.assert(
      fc.property(bytes, bytes, fc.nat(), fc.nat(), (a, b, m, n) => {
        expect(readEntryKey(entryKey(prefix, a, m))).toEqual({ table: "state/bank", key: a, place: m });
        const order = Math.sign(Buffer.compare(a, b)) || Math.sign(m - n);
        expect(Math.sign(Buffer.compare(entryKey(prefix, a, m), entryKey(prefix, b, n)))).toBe(order);
      }),
      seeded(500),
    );
  });

  test("hold the longest keys of stores, of zero bytes alone and of every other one", () => {
    for (const key of [new Uint8Array(1024), Uint8Array.from({ length: 1024 }, (_, i) => i % 2)]) {
      const entry = entryKey(prefix, key, 0xffff_ffff);
      expect(entry.length).toBeLessThanOrEqual(1700);
      expect(readEntryKey(entry)).toMatchObject({ key, place: 0xffff_ffff });
    }
  });

  test("distinguish tables of state from others", () => {
    for (const table of ["state/bank", "app", "state/app"])
      expect(readEntryKey(entryKey(tablePrefix(1, table), toUtf8("k"), 3)).table).toBe(table);
  });
});

describe("older heights", () => {
  test("are what they were, by key and by range in both directions, also after a restart", () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 10 }), name, name, (blocks, from, to) => {
        const { database, state } = open();
        const past: Map<string, string>[] = [];
        const model = new Map<string, string>();
        for (const changes of blocks) {
          commit(state, changes);
          for (const [key, value] of changes) {
            if (value === null) model.delete(key);
            else model.set(key, value);
          }
          past.push(new Map(model));
        }
        for (const [i, expected] of past.slice(0, -1).entries()) {
          const tables = pastTables(database, BigInt(i + 1));
          const bank = tables?.store("bank");
          if (bank === undefined) throw new Error("the height is kept");
          for (const key of [...past.flatMap((each) => [...each.keys()]), from]) {
            const value = bank.get(toUtf8(key));
            expect(value && fromUtf8(value)).toBe(expected.get(key));
          }
          expect(fromUtf8(tables?.table("app").get(toUtf8("last")) ?? new Uint8Array())).toBe(`${i + 1}`);
          const sorted = [...expected].filter(([key]) => key >= from && key < to).sort(([a], [b]) => (a < b ? -1 : 1));
          for (const reverse of [false, true]) {
            const found = [...bank.iterate({ start: toUtf8(from), end: toUtf8(to), reverse })];
            const all = reverse ? [...sorted].reverse() : sorted;
            expect(found.map(([key, value]) => [fromUtf8(key), fromUtf8(value)])).toEqual(all);
          }
          // The entry that every store begins with is there as well.
          expect([...bank.iterate()].length).toBe(expected.size + 1);
        }
      }),
      seeded(60),
    );
  });

  test("are read past a key that changed in every block", () => {
    const { database, state } = open();
    for (let n = 1; n <= 100; n++)
      commit(
        state,
        new Map([
          ["a", `${n}`],
          ["b", `${n % 2}`],
          [`c${n}`, "1"],
        ]),
      );
    for (const height of [1, 37, 99]) {
      const bank = pastTables(database, BigInt(height))?.store("bank");
      const all = [...(bank?.iterate({ end: toUtf8("c") }) ?? [])].map(
        ([key, value]) => fromUtf8(key) + fromUtf8(value),
      );
      expect(all).toEqual([`a${height}`, `b${height % 2}`]);
      const back = [...(bank?.iterate({ end: toUtf8("c"), reverse: true }) ?? [])].map(([key]) => fromUtf8(key));
      expect(back).toEqual(["b", "a"]);
      expect([...(bank?.iterate({ start: toUtf8("c"), end: toUtf8("d") }) ?? [])].length).toBe(height);
    }
  });

  test("are kept as the pruning says, and refused below", () => {
    const { database, state } = open({ pruning: keep(3n) });
    for (let n = 1; n <= 10; n++) commit(state, new Map([["a", `${n}`]]));
    expect(state.lowestHeight).toBe(8n);
    expect(pastTables(database, 7n)).toBeUndefined();
    expect(fromUtf8(pastTables(database, 8n)?.store("bank").get(toUtf8("a")) ?? new Uint8Array())).toBe("8");
    const again = StateStore.open(database, ["auth", "bank"], { pruning: keep(3n) });
    expect(again.lowestHeight).toBe(8n);
  });

  test("cost no row where a value is written that was there", () => {
    const { database, state } = open();
    for (let n = 1; n <= 3; n++) commit(state, new Map([["a", "1"]]));
    // The one of the table of another.
    expect([...database.table(HISTORY_TABLE).iterate()].length).toBe(2);
  });

  test("are taken away a part with each block when much is given up at once", () => {
    const large = "x".repeat(4_000);
    const { database, state } = open();
    for (let n = 1; n <= 70; n++)
      commit(state, new Map(Array.from({ length: 120 }, (_, i) => [`key ${i}`, large + n])));
    const rows = () => [...database.table(HISTORY_TABLE).iterate()].length;
    const before = rows();
    const strict = StateStore.open(database, ["auth", "bank"], { pruning: keep(2n) });
    commit(strict, new Map([["a", "1"]]));
    expect(strict.lowestHeight).toBe(70n);
    expect(rows()).toBeLessThan(before);
    for (let n = 0; n < 4; n++) commit(strict, new Map([["a", `${n}`]]));
    // Only the current epoch is left.
    expect(rows()).toBeLessThan(before / 2);
  });

  test("come back when the last commit is undone, whatever was written before", () => {
    const large = "x".repeat(4_000);
    const { database, state } = open();
    const keys = Array.from({ length: 120 }, (_, i) => `key ${i}`);
    for (let n = 1; n <= 70; n++) commit(state, new Map(keys.map((key) => [key, large + n])));
    state.rollback();
    const branch = StateStore.open(database, ["auth", "bank"]).branch();
    const values = keys.map((key) => fromUtf8(branch.store("bank").get(toUtf8(key)) ?? toUtf8("nothing")));
    expect(new Set(values)).toEqual(new Set([`${large}69`]));
  });
});

describe("proofs of older heights", () => {
  function check(state: StateStore, height: bigint, appHash: Uint8Array, key: string): string | undefined {
    const { value, ops } = state.prove("bank", toUtf8(key), height);
    verifyStoreProof(ops, { appHash, store: "bank", key: toUtf8(key), value });
    return value && fromUtf8(value);
  }

  test("show what was there and what was not, also after a restart", () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 2, maxLength: 8 }), (blocks) => {
        const { database, state } = open();
        const past: { model: Map<string, string>; appHash: Uint8Array }[] = [];
        const model = new Map<string, string>();
        for (const changes of blocks) {
          commit(state, changes);
          for (const [key, value] of changes) {
            if (value === null) model.delete(key);
            else model.set(key, value);
          }
          past.push({ model: new Map(model), appHash: state.appHash });
        }
        const again = StateStore.open(database, ["auth", "bank"]);
        for (const each of [state, again]) {
          expect(each.lowestProven).toBe(1n);
          for (const [i, { model: expected, appHash }] of past.entries())
            for (const key of [...blocks.flatMap((changes) => [...changes.keys()]), "nobody"])
              expect(check(each, BigInt(i + 1), appHash, key)).toBe(expected.get(key));
        }
      }),
      seeded(25),
    );
  });

  test("count keys that are taken away, and begin anew behind a block that is too large to be read at a start", () => {
    const { state } = open({ proven: { heights: 100n, nodes: 400 } });
    const many = Array.from({ length: 60 }, (_, n) => `many ${n}`);
    commit(state, new Map(many.map((key) => [key, "1"])));
    commit(state, new Map(many.map((key) => [key, null])));
    commit(state, new Map([["a", "1"]]));
    // The nodes alone would fit.
    expect(state.lowestProven).toBe(2n);
    const { database, state: large } = open();
    const value = "x".repeat(300_000);
    commit(large, new Map([["a", "1"]]));
    for (const text of ["y", "z"])
      commit(large, new Map(many.concat(many.map((key) => `${key}b`)).map((key) => [key, value + text])));
    commit(large, new Map([["a", "2"]]));
    const again = StateStore.open(database, ["auth", "bank"]);
    expect([large.lowestProven, again.lowestProven]).toEqual([1n, 3n]);
  });

  test("go back as far as the limits of heights and of nodes say, and what is given up is freed", () => {
    const { state } = open({ proven: { heights: 3n, nodes: 1_000 } });
    for (let n = 1; n <= 10; n++)
      commit(
        state,
        new Map([
          ["a", `${n}`],
          [`b${n}`, "1"],
        ]),
      );
    expect(state.lowestProven).toBe(7n);
    const { state: narrow } = open({ proven: { heights: 100n, nodes: 20 } });
    for (let n = 1; n <= 30; n++)
      commit(
        narrow,
        new Map([
          ["a", `${n}`],
          [`b${n % 4}`, `${n}`],
        ]),
      );
    expect(narrow.lowestProven).toBeGreaterThan(20n);
    expect(narrow.lowestProven).toBeLessThan(30n);
  });
});
